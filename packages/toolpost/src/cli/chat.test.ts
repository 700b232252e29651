import { describe, expect, it } from 'vitest'
import { commandLine, type RunOptions } from '../../test/command.ts'
import { hasPseudoTerminal } from '../../test/pseudo-terminal.ts'
import { fakeOllama } from '../testing/index.ts'

const { toolpost, configFile, terminal } = commandLine()
const nowhere = { OLLAMA_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '' }
const lamp = {
  name: 'lamp',
  description: 'The lamp',
  parameters: { type: 'object', properties: { state: { enum: ['on', 'off'] } }, required: ['state'] },
  implementation: { type: 'mock', mock_response: 'The lamp is lit' },
  sentences: ['turn [the] lamp {state}', 'break [the] lamp {state=nothing}'],
}
const config = configFile({ tools: [lamp] })
const chat = (words: string[], { env, ...options }: RunOptions = {}) =>
  toolpost(['--config', config, 'chat', ...words], { env: { ...nowhere, ...env }, ...options })

describe('toolpost chat "question"', () => {
  it('prints the answer alone on stdout, the calls with their duration on stderr', async () => {
    const { code, out, err } = await chat(['turn the lamp on'])
    expect({ code, out }).toEqual({ code: 0, out: 'The lamp is lit.\n' })
    expect(err).toMatch(/^→ lamp \{"state":"on"\}\n← lamp done \(\d+ ms\)\n$/)
  })

  it('answers every line of a pipe, with --json as a line of JSON with its calls, and exits with the worst', async () => {
    const input = 'turn the lamp on\r\n\n  break the lamp'
    const { code, out } = await chat(['--json', '--model', 'offline'], { input })
    expect(code).toBe(1)
    const answers = out.trim().split('\n')
    expect(answers.map(line => JSON.parse(line))).toMatchObject([
      {
        ...{ question: 'turn the lamp on', text: 'The lamp is lit.', stopReason: 'answer', model: 'offline' },
        calls: [{ name: 'lamp', args: { state: 'on' }, result: { success: true } }],
      },
      { question: 'break the lamp', calls: [{ name: 'lamp', result: { success: false } }] },
    ])
  })

  it('exits with 1 and says why where the model fails or takes too long', async () => {
    await using model = await fakeOllama({
      replies: [{ status: 500, error: 'no memory' }, { hangs: 'before' }],
    })
    const env = { OLLAMA_BASE_URL: model.url }
    const failed = await chat(['hi'], { env })
    expect(failed).toEqual({ code: 1, out: '', err: expect.stringContaining('no memory') })
    const late = await chat(['hi', '--timeout', '500'], { env })
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining('incomplete: it took too long.') })
  })

  it.each([[['']], [['hi', '--model', 'openai:gpt']], [['hi', '--timeout', 'soon']]])(
    'is misused with %j',
    async words => {
      expect(await chat(words)).toMatchObject({ code: 2, out: '' })
    },
  )
})

describe.skipIf(!hasPseudoTerminal)('toolpost chat, a conversation on a terminal', () => {
  it('Ctrl-C stops the answer and not the program; the history keeps what was answered', async () => {
    const replies = [{ text: ['One', ' \u001b[2J'] }, { text: 'Tw', hangs: 'after' as const }, 'Three']
    await using model = await fakeOllama({ replies })
    await using typing = terminal(['--config', config, 'chat'], { ...nowhere, OLLAMA_BASE_URL: model.url })
    await typing.sees(`Model: ollama:qwen3:0.6b (Ollama at ${model.url} has it)`)
    await typing.sees('you> ')
    typing.types('first\r')
    // It cannot be made to move the cursor.
    await typing.sees('One [2J')
    await typing.sees('you> ', 2)
    typing.types('second\r')
    await typing.sees('Tw')
    typing.types('\u0003')
    await typing.sees('Stopped.')
    await typing.sees('you> ', 3)
    typing.types('third\r')
    await typing.sees('Three')
    await typing.sees('you> ', 4)
    typing.types('/quit\r')
    expect(await typing.exit).toBe(0)
    const asked = model.requests[2]?.body.messages.map(({ content }) => content).slice(1)
    expect(asked).toEqual(['first', 'One \u001b[2J', 'third'])
  })
})
