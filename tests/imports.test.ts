import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, sourceFiles } from './project.ts'

const SRC = 'packages/toolpost/src/'

/** What each folder may import, besides itself; see ARCHITECTURE.md. */
const FLOOR = ['call', 'util', 'logging', 'telemetry']
const TOOLS = [...FLOOR, 'schema', 'tools']
const ALLOWED: Record<string, string[]> = {
  call: [],
  runtime: [],
  logging: ['util'],
  telemetry: ['util', 'logging'],
  schema: FLOOR,
  tools: TOOLS,
  executor: TOOLS,
  interceptors: [...TOOLS, 'executor'],
  history: [...TOOLS, 'executor'],
  mcp: TOOLS,
  models: [...TOOLS, 'executor', 'interceptors'],
  adapters: [...TOOLS, 'executor', 'models'],
  project: [...TOOLS, 'executor', 'interceptors', 'history', 'mcp', 'models'],
  gateway: [...TOOLS, 'executor', 'interceptors', 'history', 'mcp', 'models', 'project'],
  cli: [...TOOLS, 'executor', 'interceptors', 'history', 'mcp', 'models', 'project', 'gateway'],
  testing: [...TOOLS, 'executor', 'interceptors', 'mcp', 'models'],
}

interface Import {
  from: string
  to: string
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, to = '']) => ({
    from: file,
    to,
  }))
}

const product = sourceFiles(/packages\/[^/]+\/src\/.*\.ts$/).filter(file => !file.endsWith('.test.ts'))

describe('imports', () => {
  it('point one way inside toolpost', () => {
    const wrong = product
      .filter(file => file.startsWith(SRC) && file.slice(SRC.length).includes('/'))
      .flatMap(importsOf)
      .filter(({ to }) => to.startsWith('.'))
      .map(({ from, to }) => ({
        from: from.slice(SRC.length),
        to: posix.join(posix.dirname(from), to).slice(SRC.length),
      }))
      .filter(({ from, to }) => {
        const [folder = ''] = from.split('/')
        const allowed = ALLOWED[folder] ?? []
        return (
          to.split('/')[0] !== folder && !allowed.some(place => to === place || to.startsWith(`${place}/`))
        )
      })
    expect(wrong).toEqual([])
  })

  it('of LangChain are only in models/', () => {
    const found = product.flatMap(importsOf).filter(({ to }) => to.startsWith('@langchain/'))
    expect(
      found.filter(({ from }) => !from.startsWith(`${SRC}models/`) && !from.startsWith(`${SRC}testing/`)),
    ).toEqual([])
  })

  it('of toolpost and the Z-Wave server lead to no other package', () => {
    const packages = [
      'toolpost',
      'toolpost-durable',
      'toolpost-sentences',
      'zwave-mcp-server',
      'voice-gateway',
      'toolpost-console',
    ]
    const allowed: Record<string, string[]> = {
      toolpost: ['toolpost-sentences'],
      'toolpost-sentences': [],
      'zwave-mcp-server': [],
    }
    const found = product.flatMap(importsOf).filter(({ from, to }) => {
      const own = from.split('/')[1] ?? ''
      const name = packages.find(one => to === one || to.startsWith(`${one}/`))
      return allowed[own] && name !== undefined && name !== own && !allowed[own].includes(name)
    })
    expect(found).toEqual([])
  })

  it('of the voice gateway use only the public names of toolpost', () => {
    const found = product
      .filter(file => file.startsWith('packages/voice-gateway/'))
      .flatMap(importsOf)
      .filter(
        ({ from, to }) =>
          isOutside(from, to) || /^toolpost\/(?!config$|project$|mcp$|models$|terminal$)/.test(to),
      )
    expect(found).toEqual([])
  })
})

/** Whether a relative import leaves its package. */
function isOutside(from: string, to: string): boolean {
  return to.startsWith('.') && !posix.join(posix.dirname(from), to).startsWith('packages/voice-gateway/src/')
}
