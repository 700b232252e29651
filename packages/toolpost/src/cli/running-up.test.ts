import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { type RunningGateway, startUp } from '../../test/up.ts'

const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const { toolpost } = commandLine()
const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'toolpost-running-')))
const policy = [{ tools: 'echo', then: 'ask' }]
// Only `up` knows it: a command that started the server itself would fail.
const server = { command: process.execPath, args: ['${EVERYTHING}'] }
const known = { EVERYTHING: everything }
let up: RunningGateway | undefined

const run = (...words: string[]) =>
  toolpost(words, { cwd, env: { TOOLPOST_TOKEN: '', TOOLPOST_LOG: 'warn' } })
/** A log level is for the log of this process, so it runs on its own. */
const alone = (...words: string[]) => toolpost(['--log-level', 'silent', ...words], { cwd, env: known })

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  rmSync(cwd, { recursive: true })
})

describe('a command beside a running `toolpost up` of the same configuration', () => {
  it('finds it', async () => {
    const config = { model: 'offline', policy, mcpServers: { every: server } }
    writeFileSync(join(cwd, 'toolpost.json'), JSON.stringify(config))
    up = await startUp(cwd, { env: known })
    const ready = async () => (await run('tools', 'every', '--json')).out
    await expect.poll(ready, { timeout: 30_000 }).toContain('get-sum')
  })

  it('calls there, with the same result and exit code as on its own', async () => {
    const words = ['call', 'every.get-sum', 'a=2', 'b=3']
    expect(await run(...words)).toEqual({ code: 0, out: 'The sum of 2 and 3 is 5.\n', err: '' })
    expect(await alone(...words)).toEqual(await run(...words))
    const page = await run('tools', 'every__get-sum')
    expect(page).toEqual(await alone('tools', 'every.get-sum'))
    expect(page.out).toMatch(/^get-sum\(a: number, b: number\) \(from every/)
    const keyed = await run('call', 'get-sum', 'a=2', 'b=3', '--key', 'k')
    expect(keyed).toMatchObject({ code: 2, err: expect.stringMatching(/^Error: Durable calls are off/) })
    const wrong = await run('call', 'get-sum', 'a=x')
    expect(wrong).toEqual(await alone('call', 'get-sum', 'a=x'))
    expect(wrong.code).toBe(1)
    const { calls } = JSON.parse(`{"calls":${(await run('calls', '--tool', 'get-sum', '--json')).out}}`)
    expect(calls.at(-1)).toMatchObject({ origin: 'cli', source: 'every' })
  }, 60_000)

  it('shows the progress of a call, on stderr', async () => {
    const words = ['call', 'trigger-long-running-operation', 'duration=2', 'steps=4']
    const { code, err } = await run(...words)
    expect(code).toBe(0)
    expect(err).toContain('75 %')
  }, 60_000)

  it('denies what needs approval where there is no terminal to ask at', async () => {
    const denied = await run('call', 'echo', 'x=1')
    expect(denied).toMatchObject({ code: 1, out: '' })
    expect(denied.err).toContain('there is no terminal to ask at')
    expect((await run('calls')).out).toMatch(/denied.*there is no terminal to ask at/)
    expect(await run('approvals')).toMatchObject({ err: 'Nothing is waiting for approval.\n' })
  }, 60_000)

  it('lists its tools, and chats with it', async () => {
    const [there, here] = [await run('tools', '--json'), await alone('tools', '--json')]
    const names = (text: string) => JSON.parse(text).map(({ name }: { name: string }) => name)
    // Timers need a process that goes on.
    expect(names(there.out).sort()).toEqual([...names(here.out), 'timer'].sort())
    expect(await run('chat', 'what time is it')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^It is /),
    })
    expect(await run('chat', 'blargh zoo')).toMatchObject({ code: 1 })
  }, 60_000)

  it('does not use one with another configuration', async () => {
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ model: 'offline', history: false }))
    expect(await run('--config', 'other.json', 'call', 'get-sum', 'a=2', 'b=3')).toMatchObject({ code: 1 })
  }, 60_000)

  it('runs on its own if the one that was there no longer listens', async () => {
    const folder = join(cwd, 'gone')
    mkdirSync(join(folder, '.toolpost'), { recursive: true })
    const config = join(folder, 'toolpost.json')
    writeFileSync(config, '{}')
    const note = { url: 'http://127.0.0.1:9/', pid: process.pid, config }
    writeFileSync(join(folder, '.toolpost', 'gateway.json'), JSON.stringify(note))
    const there = { cwd: folder, env: { TOOLPOST_TOKEN: '' } }
    expect(await toolpost(['call', 'echo', 'x=1'], there)).toEqual({
      code: 0,
      out: '{"echo":{"x":"1"}}\n',
      err: '',
    })
    const { code, err } = await toolpost(['approvals'], there)
    expect([code, err]).toEqual([2, expect.stringContaining('No gateway runs in this folder')])
  }, 60_000)
})
