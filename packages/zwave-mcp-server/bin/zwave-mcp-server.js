#!/usr/bin/env node
// A full build bundles the program, which then starts in a third of the time; `tsc` alone does not.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadBundle } from 'toolpost-common/load-bundle'

const bundle = fileURLToPath(new URL('../dist/zwave-mcp-server.cjs', import.meta.url))
const main = new URL('../dist/cli.js', import.meta.url)
if (existsSync(bundle)) {
  loadBundle(bundle, name => import(name))
} else if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('zwave-mcp-server is not built yet. Run: npm run build\n')
  process.exitCode = 2
}
