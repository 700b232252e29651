// `npm run docs`: generates the reference; with `--check` it only lists outdated pages.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './markdown.mjs'
import { referencePages } from './pages.mjs'

const isCheck = process.argv.includes('--check')

for (const [path, text] of Object.entries(await referencePages())) {
  const file = join(root, path)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  process.stdout.write(`${path}\n`)
  if (isCheck) continue
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
