#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'

module.enableCompileCache?.()
const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('voice-gateway is not built yet. Run: npm run build\n')
  process.exitCode = 2
}
