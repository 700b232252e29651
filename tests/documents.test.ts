import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FAILURE_CODES } from '../packages/toolpost/src/call/failure-codes.ts'
import { MODEL_ERROR_CODES } from '../packages/toolpost/src/models/model-error.ts'
import { anchors, documents } from './markdown.ts'
import { root, sourceFiles } from './project.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The ids in the titles of all tests: `[A21 E06] …`. */
function idsInTitles(): Set<string> {
  const titles = sourceFiles(/\.test\.ts$/).flatMap(file => [
    ...read(file).matchAll(/['"`]\[((?:[A-F]\d\d ?)+)\] /g),
  ])
  return new Set(titles.flatMap(([, ids = '']) => ids.split(' ')))
}

/** The ids in a table, without rows marked "(to come)". */
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
    expect(idsInTable('docs/faults.md')).toHaveLength(72)
    expect(idsInTable('docs/faults.md').filter(id => !titles.has(id))).toEqual([])
  })

  it('list all failure codes', () => {
    const listed = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| /gm)].map(([, code]) => code)
    expect(listed).toEqual([...FAILURE_CODES, ...MODEL_ERROR_CODES])
  })

  it('[E10] record the decision on argument names, as does the normaliser', () => {
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

  it('link only to files and headings that exist', () => {
    const links = documents().flatMap(document =>
      [...read(document).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => ({
        document,
        target,
      })),
    )
    const broken = links.filter(({ document, target }) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? document : join(document, '..', path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && file.endsWith('.md') && !anchors(file).has(anchor)
    })
    expect(links.length).toBeGreaterThan(50)
    expect(broken).toEqual([])
  })

  it('explain messages that exist', () => {
    const source = sourceFiles(/packages\/[^/]+\/src\/.*(?<!\.test)\.ts$/)
      .map(read)
      .join('\n')
    const messages = [...read('docs/guides/troubleshooting.md').matchAll(/^\| (`(?:[^`\\]|\\`)+`)/gm)]
    const pieces = messages.flatMap(([, quoted = '']) =>
      quoted
        .slice(1, -1)
        .replaceAll('\\`', '`')
        .split(/<\w+>/)
        .filter(piece => piece.length > 5),
    )
    expect(pieces.length).toBeGreaterThan(20)
    const plain = source.replaceAll('\\`', '`')
    expect(pieces.filter(piece => !plain.includes(piece))).toEqual([])
  })

  it('have an index that links to every guide', () => {
    const index = read('docs/README.md')
    const pages = documents().filter(path => /^docs\/(?!README|decisions|reference)/.test(path))
    expect(pages.filter(path => !index.includes(`](${path.slice('docs/'.length)}`))).toEqual([])
  })
})
