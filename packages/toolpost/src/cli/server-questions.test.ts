import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { hasPseudoTerminal, onTerminal } from '../../test/pseudo-terminal.ts'
import { packageRoot } from '../util/package-root.ts'

const { folder, toolpost, configFile } = commandLine()
const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')
const EVERYTHING = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const everything = () =>
  configFile({
    model: 'offline',
    mcpServers: { everything: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
  })
const FORM = ['call', 'trigger-elicitation-request']

describe.skipIf(!hasPseudoTerminal)('a question of a server at a terminal', () => {
  const call = () => onTerminal([COMMAND, '--yes', ...FORM, '--config', everything()], { cwd: folder })

  it('is asked field by field, again if it does not fit, and sent after a last look', async () => {
    await using person = call()
    await person.sees('everything asks: ')
    const fill = async (title: string, typed: string, wrong?: { typed: string; problem: string }) => {
      await person.sees(`\n${title}`)
      if (wrong) person.types(`${wrong.typed}\r`)
      if (wrong) await person.sees(wrong.problem)
      person.types(`${typed}\r`)
    }
    await fill('String (required)', 'Ada', { typed: '', problem: 'this is required' })
    await fill('Boolean', 'y', { typed: 'perhaps', problem: 'please answer yes or no' })
    await fill('String with default (default: It was a dark and stormy night.)', '')
    await fill('String with email format', 'ada@example.com', { typed: 'nonsense', problem: "'email' must" })
    await fill('String with uri format', '')
    await fill('String with date format', '')
    await fill('Integer (default: 42)', '7', { typed: '1.5', problem: "'integer' must be integer" })
    await fill('Number in range 1-1000 (default: 3.14)', '', { typed: '1001', problem: "'number' must" })
    await fill('Untitled Single Select Enum', 'Ross')
    await fill('Untitled Multiple Select Enum', '2, drums')
    await fill('Titled Single Select Enum', 'Wonder Woman')
    await fill('Titled Multiple Select Enum', '')
    await fill('Legacy Titled Single Select Enum', '')
    await person.sees('Send this? [Y/n] ')
    expect(person.shown()).toContain(
      '"email":"ada@example.com","integer":7,"number":3.14,"untitledSingleSelectEnum":"Ross",' +
        '"untitledMultipleSelectEnum":["Piano","Drums"],"titledSingleSelectEnum":"hero-3"',
    )
    person.types('\r')
    expect(await person.exit).toBe(0)
    expect(person.shown()).toContain('- Name: Ada')
  }, 60_000)
})

describe('a question of a server without a terminal', () => {
  it('is declined, which is said on stderr; stdout has the result alone', async () => {
    const { code, out, err } = await toolpost([...FORM, '--config', everything()], { input: 'y\n' })
    expect(err).toMatch(
      /^everything asked a question, which was declined because there is no terminal to ask at: /m,
    )
    expect(out).not.toContain('everything asked')
    expect(out.toLowerCase()).toContain('declined')
    expect(code).toBe(0)
  })
})
