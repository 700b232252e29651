import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { compiledOf } from 'toolpost-common/load-bundle'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../runtime/package-root.ts'

const BUNDLES = [
  'toolpost/dist/cli.cjs',
  'toolpost/dist/cli-large.cjs',
  'zwave-mcp-server/dist/zwave-mcp-server.cjs',
  'zwave-mcp-server/dist/zwave-home.cjs',
]

/** Runs Node without flags, as programs do: compiled code is only valid for the same flags. */
function isTaken(bundle: string): boolean {
  const code = `const { compiledOf, scriptOf } = require('toolpost-common/load-bundle')
    const [bundle] = process.argv.slice(1)
    console.log(scriptOf(bundle, require('node:fs').readFileSync(compiledOf(bundle))).cachedDataRejected)`
  const options = { cwd: packageRoot(), encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['-e', code, bundle], options) === 'false\n'
}

// Newer Nodes keep compiled code by themselves.
describe.skipIf('enableCompileCache' in nodeModule)('the compiled code of the command lines', () => {
  it.each(BUNDLES)('was kept by the build, and is taken by this Node: %s', path => {
    const bundle = join(packageRoot(), '..', path)
    expect(existsSync(compiledOf(bundle))).toBe(true)
    expect(isTaken(bundle)).toBe(true)
  })
})
