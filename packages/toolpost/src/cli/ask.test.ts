import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { hasPseudoTerminal } from '../../test/pseudo-terminal.ts'

const { toolpost, configFile, terminal } = commandLine()
const WAY_TO_ALLOW =
  "there is no terminal to ask at; allow it with a rule in 'policy' of toolpost.json, or run it in a terminal"

const asking = (...tools: string[]) =>
  configFile({ model: 'offline', policy: [{ tools, then: 'ask', because: 'to be sure' }] })

describe.skipIf(!hasPseudoTerminal)('toolpost call at a terminal', () => {
  const call = () => terminal(['call', 'echo', 'x=1', '--config', asking('echo')])

  it('asks, and runs the call after y', async () => {
    await using person = call()
    await person.sees('[y/N] ')
    expect(person.shown()).toContain('Run echo with {"x":"1"}? (to be sure)')
    expect(person.shown()).not.toContain('"echo":')
    person.types('y\r')
    expect(await person.exit).toBe(0)
    expect(person.shown()).toContain('"x": "1"')
  })

  it.each([
    ['Enter', '\r', 'denied by the user (cli)'],
    ['n', 'n\r', 'denied by the user (cli)'],
    ['Ctrl-D', '\u0004', 'the question was not answered'],
    ['Ctrl-C', '\u0003', 'the question was not answered'],
  ])('denies it after %s', async (_key, keys, reason) => {
    await using person = call()
    await person.sees('[y/N] ')
    person.types(keys)
    expect(await person.exit).toBe(1)
    expect(person.shown()).toContain(`Error: Tool 'echo' was denied: ${reason}`)
    expect(person.shown()).not.toContain('"echo":')
  })
})

describe('toolpost call without a terminal', () => {
  it('is denied, with the way to allow it', async () => {
    const config = asking('echo')
    expect(await toolpost(['call', 'echo', 'x=1', '--config', config], { input: 'y\n' })).toEqual({
      code: 1,
      out: '',
      err: `Error: Tool 'echo' was denied: ${WAY_TO_ALLOW}: { "tools": "echo", "then": "allow" }\n`,
    })
  })
})

describe.skipIf(!hasPseudoTerminal)('toolpost chat at a terminal', () => {
  it('does not take the answer for the next question of a conversation', async () => {
    await using person = terminal(['chat', '--config', asking('datetime')])
    await person.sees('you> ')
    person.types('what time is it\r')
    await person.sees('[y/N] ')
    person.types('y\r')
    await person.sees('← datetime done')
    await person.sees('you> ', 2)
    person.types('what time is it\r')
    await person.sees('[y/N] ', 2)
    person.types('\r')
    await person.sees('← datetime failed')
    await person.sees('you> ', 3)
    person.types('exit\r')
    expect(await person.exit).toBe(0)
    expect(person.shown()).toContain("Tool 'datetime' was denied: denied by the user (chat)")
    expect(person.shown()).not.toContain('did not understand')
  })
})
