#!/usr/bin/env node
// A full build makes one file of the program, which starts in half the time; `tsc` alone makes many.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

module.enableCompileCache?.()
const bundle = fileURLToPath(new URL('../dist/zwave-mcp-server.cjs', import.meta.url))
if (existsSync(bundle)) module.createRequire(import.meta.url)(bundle)
else await import('../dist/cli.js')
