import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { root } from './project.ts'

// Inside node_modules, so that packages are resolved as in a project that has installed them.
const cache = join(root, 'node_modules', '.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'strict-project-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const compilerOptions = {
  target: 'ES2022',
  module: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
}

function compile(): Promise<string> {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const tsc = join(typescript, 'bin', 'tsc')
  return new Promise(resolve => {
    execFile(process.execPath, [tsc, '-p', folder], (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}

describe('the types of toolpost', () => {
  it('compile in a strict project that checks its libraries, and reject wrong arguments', async () => {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    copyFileSync(join(root, 'tests', 'strict-project', 'typed-calls.ts'), join(folder, 'typed-calls.ts'))
    expect(await compile()).toBe('')
  }, 120_000)
})
