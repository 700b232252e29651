#!/usr/bin/env node
// A full build bundles the program, which then starts in a third of the time; `tsc` alone does not.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadBundle } from 'toolpost-common/load-bundle'

const bundle = fileURLToPath(new URL('../dist/zwave-mcp-server.cjs', import.meta.url))
if (existsSync(bundle)) loadBundle(bundle, name => import(name))
else await import('../dist/cli.js')
