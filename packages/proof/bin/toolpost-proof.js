#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/cli.js', import.meta.url)
if (existsSync(program)) await (await import(program.href)).main(process.argv.slice(2))
else {
  process.stderr.write('toolpost-proof is not built yet. Run: npm run build\n')
  process.exitCode = 2
}
