import { createRequire } from 'node:module'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { answerProblem } from '../tools/caller.ts'
import { askAtTerminal } from './questions.ts'

type Question = Parameters<ReturnType<typeof askAtTerminal>>[0]

/** A person who types these lines, one to each prompt. */
function person(...typed: string[]) {
  const shown: string[] = []
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const output = Object.assign(new PassThrough(), { isTTY: true })
  output.on('data', chunk => {
    if (/(?:> |\] )(?:\u001b\[\d+G)?$/.test(String(chunk)) && typed.length > 0) input.write(typed.shift())
  })
  const ask = askAtTerminal({ input, output, say: text => shown.push(text) })
  return { ask: (question: Question) => ask(question), shown: () => shown.join('\n') }
}

const form = (properties: object, required: string[] = []): Question => ({
  message: 'Tell me',
  server: 'forms',
  schema: { type: 'object', properties, required },
})

describe('a form at a terminal', () => {
  it('has defaults, skips what is left empty, and is asked again if it is not valid', async () => {
    const { ask, shown } = person(
      'Ada\r',
      '\r',
      'z\r',
      '\r',
      '\r',
      'Ada\r',
      '\r',
      'y\r',
      '3\r',
      'a, b\r',
      '\r',
    )
    const question = form(
      {
        name: { type: 'string', title: 'Your name', description: 'As on the door' },
        nick: { type: 'string' },
        old: { type: 'string', enum: ['x', 'y'] },
        age: { type: 'integer', default: 7 },
        many: { type: 'array', items: { enum: ['a', 'b'] } },
      },
      ['name'],
    )
    const check = (content: Record<string, unknown>) => answerProblem(question.schema ?? {}, content)
    expect(await ask({ ...question, check })).toEqual({
      action: 'accept',
      content: { name: 'Ada', old: 'y', age: 3, many: ['a', 'b'] },
    })
    expect(shown()).toContain('forms asks: Tell me')
    expect(shown()).toContain('Your name (string)\n  As on the door')
    expect(shown()).toContain('old (optional, "x" | "y")')
    expect(shown()).toContain("Not valid: 'old' must be one of: x, y.")
  })

  it('never asks for what looks like a secret', async () => {
    const optional = person('Ada\r', '\r')
    const fields = { name: { type: 'string' }, password: { type: 'string', title: 'Password' } }
    const question = { ...form(fields), secretFields: ['password'] }
    expect(await optional.ask(question)).toEqual({ action: 'accept', content: { name: 'Ada' } })
    expect(optional.shown()).toContain('must not ask for secrets this way; skipped: Password')
    const required = person()
    expect(await required.ask({ ...form(fields, ['password']), secretFields: ['password'] })).toMatchObject({
      action: 'decline',
    })
    expect(required.shown()).not.toContain('name')
  })

  it.each([{}, { schema: { type: 'object', properties: {} } }])(
    'is a plain yes or no if there is nothing to fill in: %j',
    async part => {
      const question = { message: 'Sure?', server: 'forms', ...part }
      expect(await person('y\r').ask(question)).toEqual({ action: 'accept' })
      expect(await person('\r').ask(question)).toEqual({ action: 'decline' })
      expect(await person('\u0004').ask(question)).toEqual({ action: 'cancel' })
    },
  )
})

it('a question of a server without a terminal is declined, which is said on stderr', async () => {
  const { toolpost, configFile } = commandLine()
  const main = '@modelcontextprotocol/server-everything/dist/index.js'
  const args = [createRequire(import.meta.url).resolve(main), 'stdio']
  const config = configFile({
    model: 'offline',
    mcpServers: { everything: { command: process.execPath, args } },
  })
  const words = ['call', 'trigger-elicitation-request', '--config', config]
  const { code, out, err } = await toolpost(words, { input: 'y\n' })
  expect(err).toMatch(
    /^everything asked a question, which was declined because there is no terminal to ask at: /m,
  )
  expect(out.toLowerCase()).toContain('declined')
  expect({ code, isSaid: out.includes('everything asked') }).toEqual({ code: 0, isSaid: false })
})
