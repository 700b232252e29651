// `npm run docs`: generates docs/reference and the last column of docs/faults.md; with `--check` it lists outdated pages and fails.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../packing/packages.mjs'
import { apiReference } from './api.mjs'
import { commandLineReference } from './command-line.mjs'
import { configurationReference } from './configuration.mjs'
import { faultsPage } from './faults.mjs'
import { httpReference } from './http.mjs'

const NOTE = '<!-- Written by `npm run docs` from the source. Do not edit. -->'
const isCheck = process.argv.includes('--check')
const reference = {
  api: apiReference(),
  'command-line': await commandLineReference(),
  configuration: configurationReference(),
  http: await httpReference(),
}
const pages = Object.entries(reference).map(([name, text]) => [
  `docs/reference/${name}.md`,
  `${NOTE}\n\n${text}\n`,
])

for (const [path, text] of [...pages, ['docs/faults.md', faultsPage()]]) {
  const file = join(root, path)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  process.stdout.write(isCheck ? `${path} is out of date; run: npm run docs\n` : `${path}\n`)
  if (isCheck) process.exitCode = 1
  else writeFileSync(file, text)
}
