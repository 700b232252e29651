import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { dataOf, testGateway } from '../../test/gateway.ts'
import { unharmed } from '../../test/unharmed.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { serveGateway } from './serve-gateway.ts'

const INFO = { name: 'test', version: '1' }

const turn = defineTool({
  name: 'turn',
  description: 'Switches a light',
  schema: { type: 'object', properties: { action: { enum: ['on', 'off'] } }, required: ['action'] },
  handler: () => 'done',
})

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

  it('[F45] leaves the list whole, and is in it', async () => {
    await using gateway = gatewayWith(spoiled)
    const { tools } = await dataOf(gateway.get('/api/tools'))
    expect(tools.map(({ name }: Tool) => name)).toEqual(names)
    for (const { schema, signature } of tools) {
      expect(schema.type).toBe('object')
      expect(signature).toMatch(/^\w+\(.*\)$/)
    }
  })

  it('[F45] leaves the description of the API whole', async () => {
    await using gateway = gatewayWith(spoiled)
    const { paths } = await dataOf(gateway.get('/api/openapi.json'))
    for (const name of names) expect(paths[`/api/tools/${name}/call`].post.operationId).toBe(name)
  })

  it.each(['2025', '2026'])('[F45] leaves the MCP list whole, for clients of %s', async year => {
    const served = await serveGateway({ token: false, port: 0, executor: gatewayWith(spoiled).executor })
    const client = year === '2025' ? new ClientV1(INFO) : new ClientV2(INFO)
    const url = new URL(`${served.url}mcp`)
    await client.connect((year === '2025' ? new HttpV1(url) : new HttpV2(url)) as never)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names)
    await client.close()
    await served.close({ drainMs: 0 })
  })
})

describe('10,000 tools', () => {
  it('are described once, in slices, and all are listed', async () => {
    let described = 0
    const many = Array.from(
      { length: 10_000 },
      (_, n): Tool => ({
        ...turn,
        name: `tool_${n}`,
        get outputSchema() {
          described++
          return { type: 'object' }
        },
      }),
    )
    await using gateway = testGateway([])
    gateway.tools.getTools().push(...many)
    const list = async () => (await dataOf(gateway.get('/api/tools'))).tools
    expect(await unharmed(list)).toHaveLength(10_000)
    expect(described).toBe(10_000)
    expect(await list()).toHaveLength(10_000)
    expect(described).toBe(10_000)
    gateway.tools.remove('tool_5')
    expect(await list()).toHaveLength(9_999)
  })
})
