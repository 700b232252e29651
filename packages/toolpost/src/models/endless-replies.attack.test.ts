import { AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'
import { unharmed } from '../../test/unharmed.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { AiClient, AskOptions } from './ai-client.ts'
import { AnthropicClient } from './anthropic-client.ts'
import { type ChatModel, ModelClient } from './model-client.ts'
import { OllamaClient } from './ollama-client.ts'

const calls: unknown[] = []
const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'work',
    description: 'Works',
    schema: { type: 'object' },
    handler: args => {
      calls.push(args)
      return 'done'
    },
  }),
)
const executor = new ToolExecutor(tools)

/** A chat model that replies with these chunks; it never waits. */
function replying(chunks: () => Generator<AIMessageChunk>): ModelClient {
  const model = {
    async stream() {
      return (async function* () {
        yield* chunks()
      })()
    },
    bindTools: () => model,
  }
  return new ModelClient({ model: model as unknown as ChatModel, executor })
}

const call = (index: number, name: string | undefined, args: string) => ({
  type: 'tool_call_chunk' as const,
  index,
  args,
  ...(name !== undefined && { name, id: `call_${index}` }),
})

/** Asks, and gives the answer or what went wrong; nobody else may feel it. */
const ask = (client: AiClient, options?: AskOptions): Promise<unknown> =>
  unharmed(() => client.ask('go', options).catch((error: unknown) => error), { executor })

describe('[F47] an endless reply', () => {
  it('of words is stopped with a message, and others get their turn meanwhile', async () => {
    const client = replying(function* () {
      for (;;) yield new AIMessageChunk({ content: 'on and on and on '.repeat(6) })
    })
    expect(await ask(client)).toMatchObject({
      code: 'truncated',
      message: expect.stringContaining('524288 bytes'),
    })
  })

  it('of arguments is stopped, and the call is not made', async () => {
    const client = replying(function* () {
      yield new AIMessageChunk({ content: '', tool_call_chunks: [call(0, 'work', '{"a":"')] })
      for (;;)
        yield new AIMessageChunk({ content: '', tool_call_chunks: [call(0, undefined, 'x'.repeat(500))] })
    })
    expect(await ask(client)).toMatchObject({ code: 'truncated' })
    expect(calls).toEqual([])
  })

  it.each(['one by one', 'at once'])('10,000 calls in one reply are not made (%s)', async how => {
    const all = Array.from({ length: 10_000 }, (_, index) => call(index, 'work', '{}'))
    const groups = how === 'at once' ? [all] : all.slice(0, 200).map(one => [one])
    const chunks = groups.map(tool_call_chunks => new AIMessageChunk({ content: '', tool_call_chunks }))
    const client = replying(function* () {
      yield* chunks
    })
    expect(await ask(client)).toMatchObject({
      code: 'invalid_response',
      message: 'The model asked for more than 100 calls in one reply; none of them was run',
    })
    expect(calls).toEqual([])
  })
})

describe('[F48] an endless response of a provider', () => {
  const endless = (bytes: string, headers: Record<string, string>) => async () =>
    new Response(
      new ReadableStream(
        { pull: controller => controller.enqueue(Buffer.from(bytes)) },
        { highWaterMark: 0 },
      ),
      { headers },
    )
  const chunk = 'x'.repeat(65_536)

  it('is stopped in the middle of a line, from Ollama and from Anthropic', async () => {
    const clients = [
      new OllamaClient({ executor, fetch: endless(chunk, {}), environment: {} }),
      new AnthropicClient({
        executor,
        apiKey: 'sk-test',
        environment: {},
        settings: {
          clientOptions: { fetch: endless(chunk, { 'content-type': 'text/event-stream' }) },
        },
      }),
    ]
    for (const client of clients)
      expect(await ask(client)).toMatchObject({
        name: 'ModelError',
        message: expect.stringContaining('its answer is over 16777216 bytes'),
      })
  })
})
