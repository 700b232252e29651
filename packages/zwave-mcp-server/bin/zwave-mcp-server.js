#!/usr/bin/env node
// A full build bundles the program, which then starts in a third of the time; `tsc` alone does not.
import { existsSync } from 'node:fs'
import module from 'node:module'

const files = ['../dist/zwave-mcp-server.cjs', '../dist/cli.js'].map(path => new URL(path, import.meta.url))
const main = files.find(file => existsSync(file))
if (!main) throw new Error('zwave-mcp-server is not built yet. Run: npm run build')
module.enableCompileCache?.()
await import(main.href)
