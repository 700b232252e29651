import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FAILURE_CODES } from '../packages/toolpost/src/call/failure-codes.ts'
import { MODEL_ERROR_CODES } from '../packages/toolpost/src/models/model-error.ts'
import { root, sourceFiles } from './project.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The ids in the titles of all tests: `[A21 E06] …`. */
function idsInTitles(): Set<string> {
  const titles = sourceFiles(/\.test\.ts$/).flatMap(file => [
    ...read(file).matchAll(/['"`]\[((?:[A-F]\d\d ?)+)\] /g),
  ])
  return new Set(titles.flatMap(([, ids = '']) => ids.split(' ')))
}

/** The ids of a table that are not marked as still to come. */
function idsInTable(path: string): string[] {
  return [...read(path).matchAll(/^\| ([A-Z]\d\d) \|(.*)$/gm)]
    .filter(([row]) => !row.includes('(to come)'))
    .map(([, id = '']) => id)
}

describe('the documents', () => {
  it('have a test for every scenario of the specification', () => {
    const titles = idsInTitles()
    expect(idsInTable('docs/specification.md')).toHaveLength(91)
    expect(idsInTable('docs/specification.md').filter(id => !titles.has(id))).toEqual([])
  })

  it('have a test for every fault', () => {
    const titles = idsInTitles()
    expect(idsInTable('docs/faults.md')).toHaveLength(67)
    expect(idsInTable('docs/faults.md').filter(id => !titles.has(id))).toEqual([])
  })

  it('list the failure codes that there are', () => {
    const listed = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| /gm)].map(([, code]) => code)
    expect(listed).toEqual([...FAILURE_CODES, ...MODEL_ERROR_CODES])
  })

  it('[E10] give the decision on argument names, also where the normaliser lives', () => {
    const decision = 'docs/decisions/2026-11-15-argument-names.md'
    expect(read(decision)).toMatch(/stays/)
    const normaliser = read('packages/toolpost/src/tools/argument-names.ts')
    expect(normaliser).toContain(decision)
    expect(normaliser).toMatch(/\[E09\]/)
  })

  it('name every option of the configuration', () => {
    const schema = JSON.parse(read('packages/toolpost/toolpost.schema.json')) as {
      properties: Record<string, unknown>
    }
    const documented = read('docs/configuration.md')
    const keys = Object.keys(schema.properties).filter(key => key !== '$schema')
    expect(keys.filter(key => !documented.includes(`\`${key}`) && !documented.includes(`"${key}"`))).toEqual(
      [],
    )
  })

  it('link only to files that are there', () => {
    const documents = [
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(root, 'docs'))
        .filter(name => name.endsWith('.md'))
        .map(name => `docs/${name}`),
    ]
    const broken = documents.flatMap(document =>
      [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, target = '']) => join(document, '..', target))
        .filter(target => !existsSync(join(root, target))),
    )
    expect(broken).toEqual([])
  })
})
