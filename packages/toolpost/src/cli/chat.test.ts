import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { silentLogger } from '../logging/logger.ts'
import { ModelChoice } from '../project/model-choice.ts'
import { fakeOllama, type OllamaRequest } from '../testing/fake-ollama.ts'
import type { FakeModelServer, FakeReply } from '../testing/scripted-model-server.ts'
import { localTools } from '../tools/local-tools.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { chat as runChat } from './chat.ts'
import type { Flags, SourceContext } from './context.ts'
import { UsageError } from './exit.ts'
import type { Terminal } from './terminal.ts'

const tools = new ToolManager()
for (const tool of localTools()) tools.addCustomTool(tool)
tools.addCustomTool(
  defineTool<{ state: string }>({
    name: 'lamp',
    description: 'The lamp',
    schema: { type: 'object', properties: { state: { enum: ['on', 'off'] } }, required: ['state'] },
    sentences: ['turn [the] lamp {state}', 'break [the] lamp {state=on} {broken=yes}'],
    handler: args => {
      if ('broken' in args) throw new Error('the fuse is out')
      return `The lamp is ${args.state}`
    },
  }),
)
const executor = new ToolExecutor(tools)
const ready = vi.fn(async () => [])

/** `toolpost chat`, in a project without servers. */
function chat(
  terminal: Terminal,
  question: string | undefined,
  flags: Flags,
  stop = new AbortController(),
): Promise<number> {
  const choice = new ModelChoice({
    executor,
    logger: silentLogger,
    configuration: { config: {} },
    whenReady: ready,
    onChosen: () => {},
    wanted: flags.model as string | undefined,
    isRequired: true,
  })
  const source = { chat: async () => ({ client: choice.client, model: () => choice.choose(), ready }) }
  return runChat({ source, terminal, stop, words: [question], flags } as unknown as SourceContext<[string?]>)
}

/** Streams that stand in for a terminal or for pipes. */
function terminal({ isTTY = false } = {}) {
  const written = { out: '', err: '' }
  const stream = (name: 'out' | 'err') =>
    Object.assign(
      new PassThrough().on('data', chunk => {
        written[name] += chunk
      }),
      { isTTY },
    ) as unknown as NodeJS.WriteStream
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} })
  const streams: Terminal = { out: stream('out'), err: stream('err'), in: input }
  /** Settles when that text has been written. */
  const seen = (name: 'out' | 'err', text: string) =>
    vi.waitFor(() => expect(written[name]).toContain(text), { timeout: 10_000 })
  return { streams, input, written, seen }
}

beforeEach(() => {
  vi.stubEnv('OLLAMA_BASE_URL', 'http://127.0.0.1:1')
  vi.stubEnv('ANTHROPIC_API_KEY', '')
  vi.stubEnv('OLLAMA_MODEL', '')
})
const models: FakeModelServer<OllamaRequest>[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const server of models.splice(0)) await server.close()
})

async function withModel(...replies: (FakeReply | string)[]) {
  const server = await fakeOllama({ replies })
  models.push(server)
  vi.stubEnv('OLLAMA_BASE_URL', server.url)
  return server
}

describe('toolpost chat "question"', () => {
  it('prints the answer alone on stdout, the calls with their duration on stderr', async () => {
    const { streams, written } = terminal()
    expect(await chat(streams, 'turn the lamp on', {})).toBe(0)
    expect(written.out).toBe('The lamp is on.\n')
    expect(written.err).toMatch(/^→ lamp \{"state":"on"\}\n← lamp done \(\d+ ms\)\n$/)
  })

  it('--json prints a line of JSON for each answer, with its calls', async () => {
    const { streams, input, written } = terminal()
    input.end('turn the lamp on\nbreak the lamp\n')
    expect(await chat(streams, undefined, { model: 'offline', json: true })).toBe(1)
    const answers = written.out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(answers).toMatchObject([
      {
        question: 'turn the lamp on',
        text: 'The lamp is on.',
        stopReason: 'answer',
        model: 'offline',
        calls: [{ name: 'lamp', args: { state: 'on' }, result: { success: true } }],
      },
      { question: 'break the lamp', calls: [{ name: 'lamp', result: { success: false } }] },
    ])
  })

  it('answers every line of a pipe as it comes, and exits with the worst', async () => {
    const { streams, input, written, seen } = terminal()
    const code = chat(streams, undefined, { model: 'offline' })
    input.write('turn the lamp on\r\nbreak the lamp\n')
    await seen('out', 'The lamp is on.\nThat did not work: the fuse is out.\n')
    input.end('\n  turn the lamp off')
    expect(await code).toBe(1)
    expect(written.out).toBe('The lamp is on.\nThat did not work: the fuse is out.\nThe lamp is off.\n')
  })

  it('streams on a terminal, and cannot be made to move the cursor', async () => {
    await withModel(
      {
        text: ['Wait', ' \u001b[2J'],
        calls: [{ name: 'lamp', args: { state: 'on' } }],
      },
      { text: ['It is ', 'on.'] },
    )
    const { streams, written } = terminal({ isTTY: true })
    expect(await chat(streams, 'lamp', {})).toBe(0)
    expect(written.out).toBe('Wait [2J\nIt is on.\n')
  })

  it('exits with 1 and says why where the model fails or takes too long', async () => {
    await withModel({ status: 500, error: 'out of memory' }, { hangs: 'before' })
    const first = terminal()
    expect(await chat(first.streams, 'hi', {})).toBe(1)
    expect(first.written).toEqual({ out: '', err: expect.stringContaining('out of memory') })
    const second = terminal()
    expect(await chat(second.streams, 'hi', { timeout: '50' })).toBe(1)
    expect(second.written.err).toContain('The answer is incomplete: it took too long.')
  })

  it.each([
    ['', {}],
    ['hi', { model: 'openai:gpt' }],
    ['hi', { timeout: 'soon' }],
  ])('is misused with %j %j', async (question, flags) => {
    const { streams, written } = terminal()
    await expect(chat(streams, question, flags)).rejects.toThrow(UsageError)
    expect(written.out).toBe('')
  })
})

describe('toolpost chat, a conversation on a terminal', () => {
  it('Ctrl-C stops the answer and not the program; the history keeps what was answered', async () => {
    const server = await withModel('One', { text: 'Tw', hangs: 'after' }, 'Three')
    const { streams, input, written, seen } = terminal({ isTTY: true })
    const code = chat(streams, undefined, {})
    await seen('err', `Model: ollama:qwen3:0.6b (Ollama at ${server.url} has it)`)
    input.write('first\n')
    await seen('out', 'One')
    input.write('second\n')
    await seen('out', 'Tw')
    input.write('\u0003')
    await seen('err', 'Stopped.')
    input.write('third\n')
    await seen('out', 'Three')
    input.write('\u0003')
    expect(await code).toBe(0)
    expect(written.out).toBe('One\nTw\nThree\n')
    expect(server.requests[2]?.body.messages.map(({ content }) => content).slice(1)).toEqual([
      'first',
      'One',
      'third',
    ])
  })

  it('a Ctrl-C drops what was typed; /quit leaves', async () => {
    const { streams, input, written, seen } = terminal({ isTTY: true })
    const code = chat(streams, undefined, { model: 'offline' })
    await seen('err', 'you> ')
    input.write('half a quest')
    await seen('err', 'half a quest')
    input.write('\u0003')
    input.write('turn the lamp on\n')
    await seen('out', 'The lamp is on.')
    input.write('/quit\n')
    expect(await code).toBe(0)
    expect(written.out).toBe('The lamp is on.\n')
  })
})
