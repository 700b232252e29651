import { describe, expect, it } from 'vitest'
import { dataOf, testGateway, toolNamed } from '../../test/gateway.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import type { Tool } from '../tools/tool.ts'
import { serveGateway } from './serve-gateway.ts'

const turn = toolNamed('turn', () => 'done')

describe('a tool that cannot be read', () => {
  const hostile = (name: string, schema: object, more: object = {}): Tool =>
    Object.defineProperties(
      { name, description: name, schema, invoke: () => 'fine' },
      Object.getOwnPropertyDescriptors(more),
    ) as Tool
  const throwing = {
    '~standard': {
      version: 1,
      vendor: 'odd',
      jsonSchema: {
        input: () => {
          throw new Error('no schema today')
        },
      },
    },
  }
  const deep = JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(3_000)}{}${'}}'.repeat(3_000)}`)
  const spoiled = [
    hostile('throws', throwing, { lc_namespace: ['x'] }),
    hostile('percent', { type: 'object', properties: { a: { $ref: '#/%' } } }),
    hostile('recursive', { type: 'object', properties: { a: { $ref: '#' } } }),
    hostile('surrogate', { type: 'object', properties: { 'a\ud800': { type: 'string' } } }),
    hostile('bigint', { type: 'object', properties: { a: { default: 10n } } }),
    hostile('booleans', { type: 'object', properties: { any: true, none: false }, required: ['any', 5] }),
    hostile('deep_output', { type: 'object' }, { outputSchema: deep }),
    hostile(
      'getter',
      { type: 'object' },
      {
        get outputSchema(): never {
          throw new Error('no output today')
        },
      },
    ),
  ]

  /** As they come from servers: not all of them would be taken as tools of the program. */
  function gatewayWith(tools: readonly Tool[]) {
    const gateway = testGateway([turn])
    gateway.tools.getTools().push(...tools)
    return gateway
  }
  const names = ['turn', ...spoiled.map(({ name }) => name)]

  it('[F45] leaves the list and the description of the API whole, and is in them', async () => {
    await using gateway = gatewayWith(spoiled)
    const { tools } = await dataOf(gateway.get('/api/tools'))
    expect(tools.map(({ name }: Tool) => name)).toEqual(names)
    for (const { schema, signature } of tools) {
      expect(schema.type).toBe('object')
      expect(signature).toMatch(/^\w+\(.*\)$/)
    }
    const { paths } = await dataOf(gateway.get('/api/openapi.json'))
    for (const name of names) expect(paths[`/api/tools/${name}/call`].post.operationId).toBe(name)
  })

  it.each(CLIENTS)('[F45] leaves the MCP list whole, for clients of the %s', async (_, connect) => {
    const served = await serveGateway({ token: false, port: 0, executor: gatewayWith(spoiled).executor })
    await using client = await connect(served)
    expect((await client.tools()).map(({ name }) => name)).toEqual(names)
    await served.close({ drainMs: 0 })
  })
})
