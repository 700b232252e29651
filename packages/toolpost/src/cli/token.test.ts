import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { configFolder } from '../../test/config-folder.ts'
import { type RunningGateway, startUp } from '../../test/up.ts'

const { toolpost } = commandLine()
const CHOSEN = 'a-token-that-was-chosen'
const PATIENCE = { interval: 20, timeout: 15_000 }

/** A folder with a configuration, and what Toolpost keeps there. */
function project(config: object = {}) {
  const cwd = configFolder({ 'toolpost.json': { model: 'offline', ...config } })
  const kept = (name: string) => join(cwd, '.toolpost', name)
  return {
    cwd,
    kept,
    token: () => readFileSync(kept('token'), 'utf8').trim(),
    keep(name: string, text: string, mode = 0o600) {
      mkdirSync(join(cwd, '.toolpost'), { recursive: true })
      writeFileSync(kept(name), text, { mode })
    },
    run: (words: string[], env: Record<string, string> = {}) =>
      toolpost(words, { cwd, env: { TOOLPOST_TOKEN: '', ...env } }),
  }
}

const statusOf = async ({ url }: RunningGateway, path: string, headers: Record<string, string> = {}) =>
  (await fetch(url + path, { headers })).status
const as = (token: string) => ({ authorization: `Bearer ${token}` })
/** Windows has no modes. */
const hasModes = process.platform !== 'win32'

describe('the token of toolpost up', () => {
  it('is made at the first start, for its owner only, and is the same at the next', async () => {
    const { cwd, kept, token } = project()
    let first = ''
    {
      await using running = await startUp(cwd)
      first = running.token
      expect(first).toMatch(/^[\w-]{32}$/)
      expect(token()).toBe(first)
      if (hasModes) expect(statSync(kept('token')).mode & 0o777).toBe(0o600)
      expect(readFileSync(kept('.gitignore'), 'utf8')).toBe('*\n')
      expect(await statusOf(running, 'api/tools', running.headers)).toBe(200)
      expect(running.err()).not.toContain(first)
      expect(existsSync(kept('gateway.json'))).toBe(true)
      expect(readFileSync(kept('gateway.json'), 'utf8')).not.toContain(first)
    }
    expect(existsSync(kept('gateway.json'))).toBe(false)
    await using again = await startUp(cwd)
    expect(again.token).toBe(first)
  })

  it('is the one of the configuration, of the environment and of the flag, each before the other', async () => {
    const { cwd, kept } = project({ gateway: { token: '${OF_CONFIGURATION}' } })
    const env = { OF_CONFIGURATION: CHOSEN }
    const taken = async (options: Parameters<typeof startUp>[1]) => {
      await using running = await startUp(cwd, options)
      expect(await statusOf(running, 'api/tools', running.headers)).toBe(200)
      return running.token
    }
    expect(await taken({ env })).toBe(CHOSEN)
    const other = 'another-token-of-somebody'
    expect(await taken({ env: { ...env, TOOLPOST_TOKEN: other } })).toBe(other)
    expect(await taken({ env: { ...env, TOOLPOST_TOKEN: CHOSEN }, words: ['--token', other] })).toBe(other)
    expect(existsSync(kept('token'))).toBe(false)
  })
})

describe('toolpost token', () => {
  it('--new makes another one, and a running gateway takes it over', async () => {
    const { cwd, run } = project()
    await using running = await startUp(cwd)
    const { code, out, err } = await run(['token', '--new'])
    expect({ code, err }).toEqual({ code: 0, err: 'The old token is no longer valid.\n' })
    expect(out.trim()).not.toBe(running.token)
    await expect.poll(() => statusOf(running, 'api/tools', running.headers), PATIENCE).toBe(401)
    expect(await statusOf(running, 'api/tools', as(out.trim()))).toBe(200)
    await expect.poll(running.err, PATIENCE).toContain(`Console  ${running.url}#token=${out.trim()}`)
    expect(await run(['approvals'])).toMatchObject({ code: 0 })
  })
})

describe('toolpost approvals', () => {
  it('[F65] sends no token to an address that somebody else wrote into the folder', async () => {
    const asked: (string | undefined)[] = []
    const trap = createServer(({ headers }, response) => {
      asked.push(headers.authorization)
      response.end('{"approvals":[]}')
    })
    await new Promise<void>(resolve => trap.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void trap.close())
    const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`
    const { cwd, run, keep } = project()
    const config = join(realpathSync(cwd), 'toolpost.json')
    const note = (fields: object) =>
      keep('gateway.json', JSON.stringify({ pid: process.pid, config, ...fields }))
    note({ url, tokenDigest: 'a'.repeat(64) })
    const env = { TOOLPOST_TOKEN: CHOSEN }
    expect((await run(['approvals'], env)).err).toContain('has another token')
    expect(asked).toEqual([])
    note({ url })
    await run(['approvals'], env)
    expect(new Set(asked)).toEqual(new Set([undefined]))
    note({ url: 'http://tools.example.com/' })
    expect((await run(['approvals'], env)).err).toContain('No gateway runs in this folder')
  })
})
