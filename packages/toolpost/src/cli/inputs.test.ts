import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { gatedServer } from '../../test/gated-server.ts'
import { hasPseudoTerminal, onTerminal } from '../../test/pseudo-terminal.ts'
import { packageRoot } from '../runtime/package-root.ts'

const { folder, toolpost, configFile } = commandLine()
const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')

const asking = () =>
  configFile({
    inputs: [
      { type: 'promptString', id: 'api-key', description: 'The key', password: true },
      { type: 'pickString', id: 'region', description: 'Where', options: ['eu', 'us'], default: 'eu' },
    ],
    servers: { s: gatedServer('${input:api-key}/${input:region}'), other: gatedServer('other', '', 'free') },
  })

describe.skipIf(!hasPseudoTerminal)('inputs of VS Code at a terminal', () => {
  it('are asked for once; a password is not shown while it is typed', async () => {
    await using person = onTerminal([COMMAND, 'call', 'label', '--config', asking()], { cwd: folder })
    await person.sees('The key: ')
    person.types('s3cret-word\r')
    await person.sees('Where [eu]: ')
    expect(person.shown()).toMatch(/1 {2}eu\n {2}2 {2}us/)
    expect(person.shown()).not.toContain('s3cret-word')
    person.types('2\r')
    expect(await person.exit).toBe(0)
    expect(person.shown().trimEnd()).toMatch(/s3cret-word\/us$/)
  })

  it('that are not answered fail that one server', async () => {
    await using person = onTerminal([COMMAND, 'call', 'free', '--config', asking()], { cwd: folder })
    await person.sees('The key: ')
    person.types('\u0004')
    expect(await person.exit).toBe(0)
    expect(person.shown().trimEnd()).toMatch(/other$/)
  })
})

describe('inputs of VS Code without a terminal', () => {
  it('are taken from the environment', async () => {
    const env = { TOOLPOST_INPUT_API_KEY: 'k', TOOLPOST_INPUT_REGION: 'us' }
    expect(await toolpost(['call', 'label', '--config', asking()], { env })).toMatchObject({
      code: 0,
      out: 'k/us\n',
    })
  })

  it('[F59] fail that one server, in words, and nothing is waited for', async () => {
    const config = asking()
    expect(await toolpost(['call', 'free', '--config', config])).toMatchObject({ code: 0, out: 'other\n' })
    const { err } = await toolpost(['tools', '--config', config])
    expect(err).toMatch(
      /❌ Server 's' cannot be started: .*servers\.s\.args\[1\]: the input 'api-key' has no value; set TOOLPOST_INPUT_API_KEY, or start Toolpost in a terminal to be asked/,
    )
  })
})
