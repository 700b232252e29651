import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const files = readdirSync(import.meta.dirname).filter(name => name.endsWith('.ts'))
const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

/** Packages by name, and the files beside the tests. Anything else would test what users cannot see. */
const PUBLIC =
  /^(toolpost(\/(mcp|models|interceptors|gateway|project|testing))?|voice-gateway|vitest|zod|node:.*|@langchain\/.*|\.\/support\.ts)$/

describe('the scenario tests', () => {
  it('cover every row of the specification', () => {
    const rows = [...read('../../docs/specification.md').matchAll(/^\| ([A-E]\d\d) \|/gm)].map(([, id]) => id)
    // Tests on a real model run only where there is one.
    const tests = files.filter(file => file.endsWith('.test.ts') && file !== 'live.test.ts')
    const titles = tests.flatMap(file => [...read(file).matchAll(/['"`]\[((?:[A-E]\d\d ?)+)\] /g)])
    const covered = new Set(titles.flatMap(([, ids = '']) => ids.split(' ')))
    expect(rows).toHaveLength(91)
    expect(rows.filter(id => !covered.has(id ?? ''))).toEqual([])
    expect([...covered].filter(id => !rows.includes(id))).toEqual([])
  })

  it('use public names only', () => {
    const imports = files.flatMap(file =>
      [...read(file).matchAll(/^(?:import .*|\}) from '([^']+)'/gm)].map(([, name = '']) => ({ file, name })),
    )
    expect(imports.length).toBeGreaterThan(20)
    expect(imports.filter(({ name }) => !PUBLIC.test(name))).toEqual([])
  })

  it('run against the built packages', () => {
    expect(import.meta.resolve('toolpost')).toMatch(/\/toolpost\/dist\/index\.js$/)
    expect(import.meta.resolve('voice-gateway')).toMatch(/\/voice-gateway\/dist\/index\.js$/)
  })
})
