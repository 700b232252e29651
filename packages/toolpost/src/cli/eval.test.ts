import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { fakeOllama, fakeOpenAi } from '../testing/index.ts'

const { folder, toolpost, configFile } = commandLine()
const turn = {
  name: 'turn',
  description: 'Turns a light on or off.',
  parameters: { type: 'object', properties: { light: { type: 'string' }, level: { type: 'integer' } } },
  implementation: { type: 'builtin', handler: 'echo' },
}
const tools = [turn, { ...turn, name: 'unlock' }]
const config = configFile({ tools, history: { file: join(folder, 'h.db') } })

function evaluate(yaml: string, ...words: string[]) {
  writeFileSync(join(folder, 'c.yaml'), yaml)
  return toolpost(['--config', config, 'eval', 'c.yaml', ...words], { env })
}
const env: Record<string, string> = {}

const CASES = `
cases:
  - name: dim
    ask: Dim the hall light to 30
    expect: [{ tool: turn, args: { light: hall, level: 30 } }]
  - name: locked
    ask: Is the door locked?
    never: [unlock]
    answer: /^locked/i
`

describe('toolpost eval', () => {
  it('scores the offline client on the set for the example home', async () => {
    const html = join(folder, 'report.html')
    const { code, out } = await toolpost(['eval', '--model', 'offline', '--min', '0.9', '--html', html])
    expect(out).toMatch(/^offline +(1\.00|0\.9\d) /m)
    expect(code).toBe(0)
    const page = readFileSync(html, 'utf8')
    expect(page).toContain('everything off does not unlock')
    expect(page).not.toMatch(/<script|src=|href=/)
  })

  it('scores models on calls, arguments, repairs and forbidden calls; one that is not there stops no other', async () => {
    const dim = { calls: [{ name: 'turn', args: { light: 'Hall', level: '30' } }] }
    await using good = await fakeOllama({ replies: [dim, 'Done.', 'Locked.'] })
    const unlock = { calls: [{ name: 'unlock', args: { light: '<door>' } }] }
    await using bad = await fakeOpenAi({ replies: ['I cannot.', unlock, 'Open.'] })
    Object.assign(env, {
      OLLAMA_BASE_URL: good.url,
      OPENAI_BASE_URL: `${bad.url}/v1`,
      OPENAI_API_KEY: 'none',
    })
    const models = ['openai:fake', 'anthropic:x', 'ollama:qwen3:0.6b'].flatMap(name => ['--model', name])
    env.ANTHROPIC_API_KEY = ''
    const { code, out, err } = await evaluate(CASES, ...models, '--html', 'two.html')
    expect(out).toMatch(/^openai:fake +0\.00 \(0 of 2\) +50 % +50 % +0 +0 +1 /m)
    expect(out).toMatch(/^ollama:qwen3:0.6b +1\.00 \(2 of 2\) +100 % +100 % +0 +1 +0 /m)
    expect(out).toContain('called nothing instead of turn({"light":"hall","level":30})')
    expect(out).toContain('must not call unlock({"light":"<door>"})')
    expect(err).toContain('anthropic:x was not asked: No Anthropic API key')
    expect(code).toBe(1)
    expect(readFileSync(join(folder, 'two.html'), 'utf8')).toContain('&#60;door&#62;')
  })

  it.each([
    ['cases:\n  - ask: hi\n    expct:\n      - turn', "c.yaml:3: unknown key 'expct'"],
    [
      'cases:\n  - ask: hi\n    expect:\n      - trun',
      "c.yaml:4: there is no tool 'trun'; did you mean 'turn'?",
    ],
    ['cases:\n  - ask: hi\n    expect: [', 'c.yaml:3: '],
    ['cases:\n  - ask: hi', "c.yaml:2: 'hi' checks nothing"],
    ['cases:\n  - ask: hi\n    answer: /(/', 'c.yaml:3: Invalid regular expression'],
  ])('refuses %j with file and line', async (yaml, message) => {
    const { code, out, err } = await evaluate(yaml, '--model', 'offline')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })

  it('begins a file with the questions of past chats', async () => {
    mkdirSync(join(folder, 'conversations'))
    const call = { name: 'turn', args: { light: 'hall' }, result: { success: true, result: 'on' } }
    const turns = [{ question: 'Light, please', parts: [{ kind: 'call', call }] }]
    writeFileSync(join(folder, 'conversations', 'a.json'), JSON.stringify({ turns }))
    const { code } = await toolpost(['--config', config, 'eval', 'init', '--from-history'])
    expect(code).toBe(0)
    const written = readFileSync(join(folder, 'cases.yaml'), 'utf8')
    expect(written).toContain('ask: Light, please')
    expect(written).toContain('light: hall')
    const again = await toolpost(['--config', config, 'eval', 'init'])
    expect([again.code, again.err]).toEqual([2, 'Error: cases.yaml is already there; move it first\n'])
  })
})
