import { describe, expect, it } from 'vitest'
import { recordingLogger } from '../testing/index.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

function setup(invoke: Tool['invoke'], extra: Partial<Tool> = {}) {
  const logger = recordingLogger()
  const manager = new ToolManager({ logger })
  manager.addCustomTool({ name: 'subject', description: 'd', schema: { type: 'object' }, invoke, ...extra })
  const executor = new ToolExecutor(manager, { logger, maxTextBytes: 1_000 })
  return { logger, executor, run: (args: unknown) => executor.run({ name: 'subject', args }) }
}

describe('results that JSON cannot say', () => {
  it.each([
    ['NaN', Number.NaN, 'NaN'],
    ['NaN inside', { a: [Number.NaN, 1] }, '{"a":["NaN",1]}'],
    ['nothing', undefined, '(no result)'],
    ['a function', () => 1, '(a function)'],
    ['a bigint inside', { n: 5n }, '{"n":"5"}'],
    ['a map', new Map([['a', 1]]), '[["a",1]]'],
    ['an error', { e: new Error('x') }, '{"e":{"name":"Error","message":"x"}}'],
    ['an object that has no JSON', { toJSON: () => undefined }, '(no result)'],
    ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
  ])('[F24 F31 F32] have a defined text: %s', async (_what, value, text) => {
    expect(await setup(() => value).executor.execute('subject', {})).toBe(text)
  })

  it('[F32] nested 100,000 deep, branching without end, or with 4,000,000,000 holes, are JSON that says what is left out', async () => {
    const nested = (levels: number, around: (inner: unknown) => unknown) =>
      Array.from({ length: levels }).reduce<unknown>(around, 1)
    const branching = nested(100, inner => ({ left: inner, right: inner }))
    const holes = Object.assign([], { length: 4e9 })
    for (const value of [nested(100_000, inner => [inner]), branching, holes]) {
      const { executor, logger, run } = setup(() => value)
      expect(executor.text(await run({}))).toMatch(/\[…\]|bytes left out/)
      expect(logger.text().length).toBeLessThan(20_000)
    }
  })

  it('text that is too long is cut in the middle, and the whole value stays in the result', async () => {
    const long = `start ${'é'.repeat(5_000)} end`
    const { executor, run } = setup(() => long)
    const text = await executor.execute('subject', {})
    expect(Buffer.byteLength(text)).toBeLessThan(1_100)
    expect(text).toMatch(/^start é+\n… \[\d+ of 10010 bytes left out\] …\né+ end$/)
    expect(await run({})).toMatchObject({ result: long })
  })
})

describe('arguments that mean harm', () => {
  it('[F29] with __proto__ are refused at any depth, and nothing is polluted', async () => {
    const { run } = setup(args => Object.assign({}, args))
    for (const text of ['{"__proto__": {"polluted": 1}}', '{"a": [{"__proto__": {"polluted": 1}}]}'])
      expect(await run(JSON.parse(text))).toMatchObject({ code: 'invalid_arguments' })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('what reaches the log', () => {
  it('[F33] has terminal escapes and line breaks escaped', async () => {
    const { logger, run } = setup(() => 'a\u001b[2Jb\nFORGED line\u009b31m\u202e')
    await run({ note: '\u001b]0;title\u0007' })
    expect(logger.at('info')[0]?.fields).toMatchObject({
      args: { note: '\\u001b]0;title\\u0007' },
      result: 'a\\u001b[2Jb\\nFORGED line\\u009b31m\\u202e',
    })
  })

  it('[F34] has no secret of the arguments or the result', async () => {
    const { logger, run } = setup(() => ({
      ok: true,
      'Set-Cookie': 'SECRET7',
      nested: [{ access_token: 'SECRET8' }],
      max_tokens: 100,
    }))
    await run({
      password: 'SECRET1',
      API_KEY: 'SECRET2',
      deep: { 'client-secret': 'SECRET3', Authorization: 'SECRET4' },
      text: 'Authorization: Bearer SECRET5abcdef',
      url: 'http://user:SECRET6@host/',
      max_tokens: 5,
      token_count: 6,
    })
    expect(logger.text()).not.toContain('SECRET')
    expect(logger.at('info')[0]?.fields).toMatchObject({
      args: { max_tokens: 5, token_count: 6 },
      result: { max_tokens: 100 },
    })
  })
})
