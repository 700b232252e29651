import { inspect } from 'node:util'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { afterEach, describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import {
  type AnthropicRequest,
  type FakeAnthropicOptions,
  fakeAnthropic,
} from '../../testing/fake-anthropic.ts'
import { recordingLogger } from '../../testing/recording-logger.ts'
import type { FakeModelServer } from '../../testing/scripted-model-server.ts'
import { defineTool, type Tool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import { AnthropicClient } from './anthropic-client.ts'

const servers: FakeModelServer<AnthropicRequest>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const KEY = 'sk-ant-very-secret-0123456789'
const invoke = async () => 'done'
const works = defineTool({
  name: 'works',
  description: 'Works',
  schema: { type: 'object', properties: {} },
  handler: invoke,
})
const fails = defineTool({
  name: 'fails',
  description: 'Fails',
  schema: { type: 'object', properties: {} },
  handler: () => {
    throw new Error(`no luck with ${KEY}`)
  },
})

async function setup(options: FakeAnthropicOptions, tools: readonly Tool[] = [works, fails], more = {}) {
  const server = await fakeAnthropic(options)
  servers.push(server)
  const logger = recordingLogger()
  const manager = new ToolManager()
  manager.addMcpTools(tools)
  const executor = new ToolExecutor(manager, { logger })
  const client = new AnthropicClient({
    executor,
    apiKey: KEY,
    baseUrl: server.url,
    logger,
    environment: {},
    ...more,
  })
  return { server, client, logger }
}

describe('AnthropicClient', () => {
  it('keeps ids, merges the results of a turn into one message, marks failed ones is_error', async () => {
    const { client, server } = await setup({
      replies: [
        {
          text: 'Let me try',
          calls: [
            { name: 'works', id: 'toolu_a' },
            { name: 'fails', id: 'toolu_b' },
            { name: 'works', id: 'toolu_c' },
          ],
        },
        'Done',
      ],
    })
    await client.ask('go')
    expect(server.requests[1]?.body.messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me try' },
          { type: 'tool_use', id: 'toolu_a', name: 'works', input: {} },
          { type: 'tool_use', id: 'toolu_b', name: 'fails', input: {} },
          { type: 'tool_use', id: 'toolu_c', name: 'works', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_a', content: 'done' },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_b',
            content: 'Error: no luck with [removed]',
            is_error: true,
          },
          { type: 'tool_result', tool_use_id: 'toolu_c', content: 'done' },
        ],
      },
    ])
  })

  it('asks for the last word with tools that may not be used, since Anthropic refuses calls without tools', async () => {
    const { client, server } = await setup({ replies: [{ calls: [{ name: 'works' }] }, 'Enough'] })
    expect(await client.ask('go', { maxIterations: 1 })).toMatchObject({
      text: 'Enough',
      stopReason: 'max_iterations',
    })
    expect(server.requests.map(({ body }) => body.tool_choice)).toEqual([undefined, { type: 'none' }])
    expect(server.requests[1]?.body.tools).toHaveLength(2)
  })

  it.each([
    [{ status: 429, error: 'slow down' }],
    [{ status: 529, error: 'Overloaded' }],
    [{ status: 500, error: 'oops' }],
    [{ error: 'Overloaded' }],
  ])('tries again on %j', async reply => {
    const headers = { 'retry-after': '0' }
    const { client, server } = await setup({ replies: [{ ...reply, headers }, 'Here'] })
    expect((await client.ask('go')).text).toBe('Here')
    expect(server.requests).toHaveLength(2)
  })

  it('a rate limit that outlasts the time limit is reported at once', async () => {
    const reply = { status: 429, error: 'slow down', headers: { 'retry-after': '90' } }
    const { client, server } = await setup({ replies: [reply] })
    await expect(client.ask('go', { timeLimitMs: 60_000 })).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 90_000,
      message: expect.stringContaining('slow down'),
    })
    expect(server.requests).toHaveLength(1)
  })

  it('the key is never in an error, a log or the client, even where the server repeats it', async () => {
    const { client, logger } = await setup({ apiKey: 'another', replies: [] })
    const error = await client.ask('go').catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'unauthorized' })
    expect(inspect(error, { depth: 10 })).not.toContain(KEY)
    const second = await setup({ replies: [{ calls: [{ name: 'fails' }] }, 'Sorry'] })
    await second.client.ask('go')
    expect(logger.text() + second.logger.text()).not.toContain(KEY)
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain(KEY)
  })

  it('offers every tool, in a form that Anthropic accepts, and calls it by its own names', async () => {
    const seen: unknown[] = []
    const note = async (args: object) => {
      seen.push(args)
      return 'done'
    }
    const tools = [
      works,
      {
        name: 'files.read',
        description: 'Reads',
        schema: { type: 'object', properties: { $top: { type: 'integer' } }, required: ['$top'] },
        invoke: note,
      },
      { name: 'files_read', description: 'Another', schema: { type: 'object', properties: {} }, invoke },
      {
        name: 'either',
        description: 'Either',
        schema: {
          type: 'object',
          properties: { id: { type: 'string' }, url: { type: 'string' } },
          anyOf: [{ required: ['id'] }, { required: ['url'] }],
        },
        invoke,
      },
      { name: 'untyped', description: 'Untyped', schema: { properties: {} }, invoke },
      {
        name: 'valibot',
        description: 'V',
        schema: toStandardJsonSchema(v.object({ x: v.string() })),
        invoke,
      },
      { name: 'alien', description: 'A', schema: { '~standard': { version: 1, vendor: 'mine' } }, invoke },
    ]
    let safe = ''
    const { client, server, logger } = await setup(
      {
        replies: [
          ({ tools = [] }) => {
            safe = tools[1]?.name ?? ''
            return { calls: [{ name: safe, args: { _top: '5' } }] }
          },
          'Done',
        ],
      },
      tools as Tool[],
    )
    const answer = await client.ask('go', { tools: tools as Tool[] })
    const [first, second] = server.requests.map(({ body }) => body)
    expect(first?.tools?.map(({ name }) => name)).toEqual([
      'works',
      safe,
      'files_read',
      'either',
      'untyped',
      'valibot',
      'alien',
    ])
    expect(safe).toMatch(/^files_read_[0-9a-f]{6}$/)
    expect(first?.tools?.[1]?.input_schema).toMatchObject({ required: ['_top'] })
    expect(first?.tools?.[3]?.input_schema.description).toBe('Use one of these forms: (1) id; (2) url.')
    expect(answer.results).toMatchObject([{ success: true, tool_name: 'files.read' }])
    expect(seen).toEqual([{ $top: 5 }])
    // The history has the tool's own names, what is sent has those that the model knows.
    expect(answer.messages[1]).toMatchObject({ tool_calls: [{ name: 'files.read', args: { $top: '5' } }] })
    expect(second?.messages[1]).toMatchObject({ content: [{ name: safe, input: { _top: '5' } }] })
    expect(logger.at('warn')).toMatchObject([
      {
        message: 'Tool offered without its arguments',
        fields: { tool: 'alien', place: '#', keyword: '~standard' },
      },
    ])
  })

  it('needs a key, and says where it looks for one', async () => {
    const client = new AnthropicClient({ executor: new ToolExecutor(new ToolManager()), environment: {} })
    await expect(client.ask('hi')).rejects.toMatchObject({
      code: 'missing_key',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    })
  })

  it('has key, model and address from the environment', async () => {
    await using server = await fakeAnthropic({ apiKey: 'sk-from-env', models: ['claude-x'], replies: ['hi'] })
    const environment = {
      ANTHROPIC_API_KEY: 'sk-from-env',
      ANTHROPIC_MODEL: 'claude-x',
      ANTHROPIC_BASE_URL: server.url,
    }
    const client = new AnthropicClient({ executor: new ToolExecutor(new ToolManager()), environment })
    expect((await client.ask('hi')).text).toBe('hi')
  })

  it('passes settings on to ChatAnthropic', async () => {
    const { client, server } = await setup({ replies: ['hi'] }, [works], { settings: { maxTokens: 77 } })
    await client.ask('hello')
    expect(server.requests[0]?.body.max_tokens).toBe(77)
  })
})
