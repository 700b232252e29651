import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { fakeOAuth } from '../../test/fake-oauth/fake-oauth.ts'

const { toolpost, configFile, folder, start } = commandLine()
const env = { TOOLPOST_KEYRING: 'off', BROWSER: browser() }

/** Follows the login page back to where it leads, as a person who agrees does. */
function browser(): string {
  const file = join(folder, 'browser.mjs')
  writeFileSync(file, `#!${process.execPath}\nawait fetch(process.argv[2])\n`)
  chmodSync(file, 0o755)
  return file
}

describe('toolpost auth', { timeout: 90_000 }, () => {
  it('[F58] logs in with a browser; the next command is logged in, and --logout ends that', async () => {
    await using oauth = await fakeOAuth()
    const config = configFile({ mcpServers: { remote: { url: oauth.url } }, mcp: { retry: { attempts: 1 } } })
    const run = (...words: string[]) => toolpost(['--config', config, ...words], { env })
    const before = await run('call', 'write', 'text=on')
    expect(before).toMatchObject({ code: 1, err: expect.stringContaining('toolpost auth remote') })
    const login = await run('auth', 'remote')
    expect(login).toMatchObject({ code: 0, out: '', err: expect.stringContaining("Logged in to 'remote'.") })
    expect(readFileSync(join(folder, '.toolpost', '.gitignore'), 'utf8')).toBe('*\n')
    expect(await run('call', 'write', 'text=on')).toMatchObject({ code: 0, out: 'on\n' })
    expect(await run('auth', 'remote', '--logout')).toMatchObject({ err: "Logged out of 'remote'.\n" })
    expect(await run('auth', 'remote', '--logout')).toMatchObject({ err: "Not logged in to 'remote'.\n" })
    expect(await run('call', 'write', 'text=on')).toMatchObject({ code: 1 })
    for (const secret of oauth.secrets) expect(before.err + login.err).not.toContain(secret)
  })

  it('[F58] takes the address that a browser elsewhere ended at, and is not ended by another', async () => {
    await using oauth = await fakeOAuth()
    const config = configFile({ mcpServers: { remote: { url: oauth.url } } })
    const { child, err, exit } = start(['--config', config, 'auth', 'remote', '--no-browser'], env)
    await expect.poll(err, { timeout: 15_000 }).toContain('paste')
    const back = await oauth.agree(/http\S+authorize\S+/.exec(err())?.[0] ?? '')
    child.stdin.write('http://127.0.0.1/oauth/callback?state=another&code=forged\n')
    child.stdin.write(`${back.href}\n`)
    expect(await exit).toBe(0)
    expect(err()).toMatch(/belongs to another login\n[\s\S]*Logged in to 'remote'\.\n/)
  })

  it('of a server that wants none, or is not there, is a mistake of use', async () => {
    const remote = { url: 'http://127.0.0.1:9/', headers: { Authorization: 'x' } }
    const config = configFile({ mcpServers: { local: { command: 'node' }, remote } })
    const errorOf = async (name: string) => {
      const { code, err } = await toolpost(['--config', config, 'auth', name], { env })
      return `${code} ${err}`
    }
    expect(await errorOf('local')).toContain("2 Error: No login needed: 'local' is not reached over HTTP")
    expect(await errorOf('remote')).toContain("'remote' has its credentials in the configuration")
    expect(await errorOf('remot')).toContain("2 Error: No usable server 'remot'; servers: local, remote")
  })
})
