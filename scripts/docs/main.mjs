// `npm run docs`: generates the reference; with `--check` it lists outdated pages and fails.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './markdown.mjs'
import { referencePages } from './pages.mjs'

const isCheck = process.argv.includes('--check')

for (const [path, text] of Object.entries(await referencePages())) {
  const file = join(root, path)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  process.stdout.write(isCheck ? `${path} is out of date; run: npm run docs\n` : `${path}\n`)
  if (isCheck) {
    process.exitCode = 1
    continue
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
