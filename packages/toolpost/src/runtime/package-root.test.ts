import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { compiledFile, findPackage, packageRoot } from '../runtime/package-root.ts'

const folder = mkdtempSync(join(tmpdir(), 'package-root-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('packageRoot', () => {
  it('is the folder of this package', () => {
    expect(existsSync(join(packageRoot(), 'src', 'runtime', 'package-root.ts'))).toBe(true)
  })

  it('passes by packages of another name and package files that cannot be read', () => {
    const deep = join(folder, 'wanted', 'other', 'broken')
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(folder, 'wanted', 'package.json'), '{"name":"wanted"}')
    writeFileSync(join(folder, 'wanted', 'other', 'package.json'), '{"name":"other"}')
    writeFileSync(join(deep, 'package.json'), '{')
    expect(findPackage(deep, 'wanted')).toBe(join(folder, 'wanted'))
  })

  it('says so when there is no such package', () => {
    expect(() => findPackage(folder, 'no such package')).toThrow("'no such package' was not found above")
  })
})

describe('compiledFile', () => {
  it('finds a compiled file', () => {
    expect(existsSync(fileURLToPath(compiledFile('tools/isolated-child.js')))).toBe(true)
  })

  it('says what to do when it is missing', () => {
    expect(() => compiledFile('missing.js')).toThrow('Run: npm run build')
  })
})
