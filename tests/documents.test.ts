import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FAILURE_CODES } from '../packages/toolpost/src/call/failure-codes.ts'
import { MODEL_ERROR_CODES } from '../packages/toolpost/src/models/model-error.ts'
import { anchors, documents } from './markdown.ts'
import { root, sourceFiles } from './project.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

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
