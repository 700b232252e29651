import { existsSync, readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import type { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../runtime/package-root.ts'

const { compiled, scriptOf } = nodeModule.createRequire(import.meta.url)(
  join(packageRoot(), 'bin', 'load-bundle.cjs'),
) as {
  compiled: string
  scriptOf(cachedData: Buffer): Script
}

// Newer Nodes keep compiled code by themselves.
describe.skipIf('enableCompileCache' in nodeModule)('the compiled code of the command line', () => {
  it('was kept by the build, and is taken by this Node', () => {
    expect(existsSync(compiled)).toBe(true)
    expect(scriptOf(readFileSync(compiled)).cachedDataRejected).toBe(false)
  })
})
