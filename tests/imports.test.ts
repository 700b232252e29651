import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { read, sourceFiles } from './project.ts'

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

const importsOf = (file: string) =>
  [...read(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, to = '']) => ({
    from: file,
    to,
  }))

const product = sourceFiles(/packages\/[^/]+\/src\/.*\.ts$/).filter(file => !file.endsWith('.test.ts'))

describe('imports', () => {
  it('point one way inside toolpost', () => {
    const inside = product.filter(file => file.startsWith(SRC) && file.slice(SRC.length).includes('/'))
    const wrong = inside.flatMap(importsOf).filter(({ from, to }) => {
      const [folder = ''] = from.slice(SRC.length).split('/')
      const [other = ''] = posix.join(posix.dirname(from), to).slice(SRC.length).split('/')
      return to.startsWith('.') && ![folder, ...(ALLOWED[folder] ?? [])].includes(other)
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
    const others = ['toolpost-durable', 'toolpost-console', 'voice-gateway', 'zwave-mcp-server']
    const packages = ['toolpost', 'toolpost-sentences', ...others]
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
    const own = product.filter(file => file.startsWith('packages/voice-gateway/')).flatMap(importsOf)
    const found = own.filter(({ from, to }) => {
      const target = posix.join(posix.dirname(from), to)
      const isOutside = to.startsWith('.') && !target.startsWith('packages/voice-gateway/src/')
      return isOutside || /^toolpost\/(?!config$|project$|mcp$|models$|terminal$)/.test(to)
    })
    expect(found).toEqual([])
  })
})
