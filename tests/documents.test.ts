import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FAILURE_CODES } from '../packages/toolpost/src/call/failure-codes.ts'
import { MODEL_ERROR_CODES } from '../packages/toolpost/src/models/model-error.ts'
import { documents, read, root, sourceFiles } from './project.ts'

/** The anchors of a document's headings, as on GitHub. */
function anchors(document: string): Set<string> {
  const text = read(document).replaceAll(/^```[\s\S]*?^```/gm, '')
  const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title.toLowerCase())
  const plain = titles.map(title => title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
  return new Set(plain.map(title => title.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')))
}

describe('the documents', () => {
  it('say for every fault where it is tested', () => {
    const rows = [...read('docs/faults.md').matchAll(/^\| (F\d\d) \|.*\| ([^|]+) \|$/gm)]
    expect(rows).toHaveLength(72)
    const planned = rows.filter(([, , where]) => where === 'planned').map(([, id]) => id)
    expect(planned).toEqual([])
  })

  it('list all failure codes', () => {
    const listed = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| /gm)].map(([, code]) => code)
    expect(listed).toEqual([...FAILURE_CODES, ...MODEL_ERROR_CODES])
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

describe('SECURITY.md', () => {
  it('names for every promise tests that exist', () => {
    const [promises = ''] = read('SECURITY.md').split('## What it does not protect against')
    const claims = promises.split(/^- /m).slice(1)
    expect(claims.length).toBeGreaterThan(25)
    const without = claims.filter(claim => {
      const tests = [...claim.matchAll(/^ {2}- \[[^\]]+\]\(([^)]+\.test\.ts)\): “([^”]+)”$/gm)]
      const exist = tests.filter(
        ([, file = '', title = '']) => existsSync(join(root, file)) && read(file).includes(title),
      )
      return (
        tests.length === 0 || exist.length < tests.length || tests.length < claim.split('\n  - ').length - 1
      )
    })
    expect(without).toEqual([])
  })
})
