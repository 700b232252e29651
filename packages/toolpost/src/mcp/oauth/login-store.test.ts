import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeOAuth } from '../../../test/fake-oauth/fake-oauth.ts'
import { harnessFor, startServers } from '../../../test/hostile-server/harness.ts'
import type { Login } from './login.ts'
import { LoginFile } from './login-store.ts'
import { Logins } from './logins.ts'

const REDIRECT = 'http://127.0.0.1:9/oauth/callback'
const TOKEN = 'canary-token-5f2e'
const login: Login = {
  issuer: 'https://i.example',
  tokens: { access_token: TOKEN, token_type: 'Bearer', obtainedAt: 0 },
}

let root = ''
let folder = ''
let problems: string[] = []

beforeEach(() => {
  vi.stubEnv('TOOLPOST_KEYRING', 'off')
  root = mkdtempSync(join(tmpdir(), 'toolpost-logins-'))
  folder = join(root, '.toolpost', 'logins')
  problems = []
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

function file(url = 'https://server.example/mcp', name = 'remote'): LoginFile {
  return new LoginFile(folder, { name, url }, problem => problems.push(problem))
}

const path = () => join(folder, readdirSync(folder).find(name => name.endsWith('.login')) ?? '')
const mode = (of: string) => (statSync(of).mode & 0o777).toString(8)

describe('a saved login', () => {
  it('[F58] is encrypted, for its owner alone, and nothing else is left in the folder', async () => {
    await file().write(login)
    expect(await file().read()).toEqual(login)
    expect(readFileSync(path(), 'utf8')).not.toContain(TOKEN)
    expect([mode(folder), mode(path()), mode(join(folder, 'key'))]).toEqual(['700', '600', '600'])
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it('is of one server at one address: under another name or address it cannot be read', async () => {
    await file().write(login)
    expect(await file('https://other.example/mcp').read()).toBeUndefined()
    expect(await file('https://server.example/mcp', 'other').read()).toBeUndefined()
    const stolen = readFileSync(path(), 'utf8')
    await file('https://other.example/mcp').write({})
    for (const name of readdirSync(folder).filter(each => each.endsWith('.login')))
      writeFileSync(join(folder, name), stolen)
    expect(await file('https://other.example/mcp').read()).toBeUndefined()
    expect(problems).toEqual([expect.stringContaining('the saved login cannot be used')])
  })

  it('[F58] that others may read is closed to them again, and that is said', async () => {
    await file().write(login)
    chmodSync(path(), 0o644)
    chmodSync(join(folder, 'key'), 0o644)
    expect(await file().read()).toEqual(login)
    expect([mode(path()), mode(join(folder, 'key'))]).toEqual(['600', '600'])
    expect(problems).toEqual(['the saved login was readable by others; its mode was reset to 0600'])
  })

  it.each<[string, () => void]>([
    ['cut off', () => writeFileSync(path(), readFileSync(path(), 'utf8').slice(0, 40))],
    ['empty', () => writeFileSync(path(), '')],
    ['something else', () => writeFileSync(path(), '{"tokens":{"access_token":"x"}}')],
    ['huge', () => writeFileSync(path(), 'x'.repeat(1_000_000))],
    ['without its key', () => rmSync(join(folder, 'key'))],
    ['with another key', () => writeFileSync(join(folder, 'key'), Buffer.alloc(32).toString('base64'))],
  ])('[F58] that is %s counts as none, and a new one can be saved', async (_, spoil) => {
    await file().write(login)
    spoil()
    expect(await file().read()).toBeUndefined()
    expect(problems).toHaveLength(1)
    await file().write(login)
    expect(await file().read()).toEqual(login)
  })

  it('is changed by one at a time; the lock of a dead process holds up nobody', async () => {
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await new Promise(resolve => setImmediate(resolve))
      inside--
    }
    await Promise.all(Array.from({ length: 5 }, () => file().alone(work)))
    expect(most).toBe(1)
    await file().write(login)
    writeFileSync(`${path()}.lock`, '')
    utimesSync(`${path()}.lock`, 0, 0)
    await file().alone(work)
    expect(readdirSync(folder).filter(name => name.endsWith('.lock'))).toEqual([])
  })
})

describe('a login that is saved', () => {
  it('[F58] is still there after a restart of Toolpost', async () => {
    await using oauth = await fakeOAuth()
    const servers = { remote: { url: oauth.url } }
    const logins = new Logins({ servers, folder })
    const page = await logins.of('remote')?.begin(REDIRECT)
    await logins.finish((await oauth.agree(page ?? '')).searchParams)
    await using client = await startServers(servers, { loginsFolder: folder })
    expect(client.status().state).toBe('ready')
  })

  it('[F58] by another process is noticed by one that waits for it', async () => {
    await using oauth = await fakeOAuth()
    const servers = { remote: { url: oauth.url } }
    await using client = harnessFor(servers, { loginsFolder: folder })
    await client.mcp.ready()
    expect(client.status().state).toBe('needs_login')
    const other = new Logins({ servers, folder })
    const page = await other.of('remote')?.begin(REDIRECT)
    await other.finish((await oauth.agree(page ?? '')).searchParams)
    await vi.waitFor(() => expect(client.status().state).toBe('ready'), { timeout: 20_000 })
  })

  it('[F58] is refreshed once by two processes, since a refresh token is good once', async () => {
    await using oauth = await fakeOAuth()
    const servers = { remote: { url: oauth.url } }
    const logins = new Logins({ servers, folder })
    const page = await logins.of('remote')?.begin(REDIRECT)
    await logins.finish((await oauth.agree(page ?? '')).searchParams)
    await using one = await startServers(servers, { loginsFolder: folder })
    await using two = await startServers(servers, { loginsFolder: folder })
    oauth.expire()
    const answers = await Promise.all(
      [one, two].map(({ executor }) => executor.execute('write', { text: 'on' })),
    )
    expect(answers).toEqual(['on', 'on'])
    expect(oauth.asked.filter(asked => asked === 'refresh_token')).toHaveLength(1)
  })
})

describe('[F58] no secret of a login', () => {
  it('stands in a log, a status, an error or the answer to a call', async () => {
    await using oauth = await fakeOAuth()
    await using client = await startServers(
      { remote: { url: oauth.url } },
      { loginsFolder: folder, retry: { attempts: 1 } },
    )
    const texts: string[] = []
    const note = () => void texts.push(client.log.text(), JSON.stringify(client.mcp.status()))
    const page = await client.mcp.logins.of('remote')?.begin(REDIRECT)
    const back = await oauth.agree(page ?? '')
    await client.mcp.logins.finish(back.searchParams)
    await vi.waitFor(() => expect(client.status().state).toBe('ready'))
    note()
    oauth.expire()
    texts.push(JSON.stringify(await client.executor.run({ id: '1', name: 'write', args: { text: 'x' } })))
    oauth.revoke()
    texts.push(JSON.stringify(await client.executor.run({ id: '2', name: 'write', args: { text: 'x' } })))
    await client.mcp.logins.finish(back.searchParams).catch(error => texts.push(String(error)))
    note()
    for (const secret of oauth.secrets) expect(texts.join('\n')).not.toContain(secret)
    expect(oauth.secrets.length).toBeGreaterThan(4)
    for (const name of readdirSync(folder))
      for (const secret of oauth.secrets)
        expect(readFileSync(join(folder, name), 'utf8')).not.toContain(secret)
  })
})
