#!/usr/bin/env node
// A full build bundles the program, which then starts in a third of the time; `tsc` alone does not.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadBundle } from 'toolpost-common/load-bundle'

const bundle = fileURLToPath(new URL('../dist/zwave-home.cjs', import.meta.url))
const main = new URL('../dist/home/cli.js', import.meta.url)
if (existsSync(bundle)) {
  loadBundle(bundle, name => import(name))
} else if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('zwave-home is not built yet. Run: npm run build\n')
  process.exitCode = 2
}
