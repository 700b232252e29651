import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../../../tests/output-of.ts'
import { hasPseudoTerminal, onTerminal } from '../../toolpost/test/pseudo-terminal.ts'
import { temporaryFolder } from './support/programs.ts'

const COMMAND = fileURLToPath(new URL('../bin/voice-gateway.js', import.meta.url))
const LIMIT = { timeout: 60_000 }

/** A home where the greeting needs a yes. */
function words(...more: string[]): string[] {
  const file = join(temporaryFolder(), 'toolpost.json')
  const implementation = { type: 'mock', mock_response: { text: 'Good evening to you' } }
  const tool = { name: 'greet', description: 'Greets', sentences: ['good evening'], implementation }
  const policy = [{ tools: 'greet', from: ['voice'], then: 'ask' }]
  writeFileSync(file, JSON.stringify({ tools: [tool], policy }))
  return [COMMAND, '--config', file, '--model', 'offline', '--speaker', 'none', ...more]
}

/** Runs it with lines on a pipe. */
async function piped(args: string[], input: string) {
  const child = spawn(process.execPath, args, { cwd: temporaryFolder() })
  const { out, err, exit } = outputOf(child)
  child.stdin.end(input)
  return { code: await exit, out: out(), err: err() }
}

describe.skipIf(!hasPseudoTerminal)('voice-gateway say at a terminal', LIMIT, () => {
  it.each([
    ['y', 'y\r', 'Good evening to you.'],
    ['Enter', '\r', 'was denied: denied by the user (voice)'],
  ])('asks there, and takes %s', async (_key, keys, answer) => {
    await using person = onTerminal(words('say', 'good evening'), { cwd: temporaryFolder() })
    await person.sees('[y/N] ')
    expect(person.shown()).toContain('Run greet with {}?')
    expect(person.shown()).not.toContain('Good evening to you')
    person.types(keys)
    await person.exit
    expect(person.shown()).toContain(answer)
  })
})

describe('voice-gateway without a terminal', LIMIT, () => {
  it('denies what say would have to ask about, with the way to allow it', async () => {
    const { code, out } = await piped(words('say', 'good evening'), 'y\n')
    expect(out).toContain("denied: there is no terminal to ask at; allow it with a rule in 'policy'")
    expect(code).toBe(1)
  })

  it.each([
    ['yes', 'Good evening to you.\n'],
    ['no', 'was denied: denied by the user (voice)'],
  ])('takes the next line of a pipe for the answer: %s', async (line, answer) => {
    const { out, err } = await piped(words('listen', '--no-microphone'), `good evening\n${line}\n`)
    expect(err).toContain('Greet? Say yes or no.')
    expect(out).toContain(answer)
    expect(out).not.toContain('did not understand')
  })
})
