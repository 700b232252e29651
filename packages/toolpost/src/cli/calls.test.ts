import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'

const { folder, toolpost, configFile } = commandLine()
const kept = join(folder, '.toolpost')

describe('toolpost calls', () => {
  beforeEach(() => rmSync(kept, { recursive: true, force: true }))

  it('lists what was called before, the newest first, with no gateway running', async () => {
    mkdirSync(kept)
    await toolpost(['call', 'echo', 'room=kitchen', 'password=hunter22'])
    await toolpost(['call', 'nothing'])
    const { code, out, err } = await toolpost(['calls'])
    expect([code, err]).toEqual([0, ''])
    const [head, first, second] = out.split('\n')
    expect(head).toMatch(/^TIME +ID +TOOL +SOURCE +FROM +OUTCOME +TOOK +ARGUMENTS$/)
    expect(first).toMatch(/nothing +local +cli +unknown_tool .* → Tool 'nothing' not found$/)
    expect(second).toMatch(/echo +local +cli +ok .*"room":"kitchen"/)
    expect(out).not.toContain('hunter22')
    expect(statSync(join(kept, 'history.db')).mode & 0o777).toBe(0o600)
  })

  it('filters, and prints JSON', async () => {
    mkdirSync(kept)
    for (const name of ['echo', 'nothing']) await toolpost(['call', name])
    const tools = async (...flags: string[]) => {
      const calls: { tool: string }[] = JSON.parse((await toolpost(['calls', '--json', ...flags])).out)
      return calls.map(({ tool }) => tool)
    }
    expect(await tools()).toEqual(['nothing', 'echo'])
    expect(await tools('--failed')).toEqual(['nothing'])
    expect(await tools('--tool', 'echo', '--since', '1h')).toEqual(['echo'])
    expect(await tools('--search', 'not found', '--limit', '1')).toEqual(['nothing'])
  }, 60_000)

  it('shows one call by the beginning of its id, as the list prints it', async () => {
    mkdirSync(kept)
    await toolpost(['call', 'echo', 'room=kit\u202echen'])
    const [, row = ''] = (await toolpost(['calls'])).out.split('\n')
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f]{4}/.exec(row) ?? []
    const { code, out } = await toolpost(['calls', 'show', id])
    expect(code).toBe(0)
    expect(out).toMatch(/^tool +echo$/m)
    // What was recorded cannot reverse the line it is shown on.
    expect(out).toContain('kit\\u202echen')
    expect(out).not.toContain('\u202e')
    const unknown = { code: 2, out: '', err: 'Error: No call with this id\n' }
    expect(await toolpost(['calls', 'show', 'zzz'])).toEqual(unknown)
    const exported = (await toolpost(['calls', 'export', '--cassette'])).out.trim().split('\n')
    expect(exported.map(line => JSON.parse(line))).toMatchObject([{ cassette: 1 }, { tool: 'echo' }])
  })

  it('says what is wrong with a question, exit 2', async () => {
    const since = await toolpost(['calls', '--since', 'noon'])
    expect(since.err).toContain("invalid since 'noon'; expected 90s")
    const off = await toolpost(['calls', '--config', configFile({ history: false })])
    expect(off.err).toContain("'history' is false")
    expect([since.code, off.code]).toEqual([2, 2])
  })
})
