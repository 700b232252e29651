import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeOAuth } from '../../../test/fake-oauth/fake-oauth.ts'
import { type Login, LoginFile } from './login-store.ts'
import { Logins } from './logins.ts'

const REDIRECT = 'http://127.0.0.1:9/oauth/callback'
const login = (token: string): Login => ({
  issuer: 'https://i.example',
  tokens: { access_token: token, token_type: 'Bearer', obtainedAt: 0 },
})

let root = ''
let folder = ''
let problems: string[] = []

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolpost-logins-'))
  folder = join(root, '.toolpost')
  problems = []
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function file(name = 'remote', url = 'https://server.example/mcp'): LoginFile {
  return new LoginFile(folder, { name, url }, problem => problems.push(problem))
}

const save = (store: LoginFile, token: string) => store.update(async () => login(token))
const path = () => join(folder, 'logins.json')

describe('saved logins', () => {
  it('[F58] are in one file for their owner alone, each of one server at one URL', async () => {
    await save(file(), 'one')
    await save(file('other'), 'two')
    expect([await file().read(), await file('other').read()]).toEqual([login('one'), login('two')])
    expect(await file('remote', 'https://elsewhere.example/mcp').read()).toBeUndefined()
    expect((statSync(path()).mode & 0o777).toString(8)).toBe('600')
    expect(readdirSync(folder)).toEqual(['logins.json'])
    await file().update(async () => undefined)
    expect([await file().read(), await file('other').read()]).toEqual([undefined, login('two')])
  })

  it('[F58] that others could read are closed to them again, and that is reported', async () => {
    await save(file(), 'one')
    chmodSync(path(), 0o644)
    expect(await file().read()).toEqual(login('one'))
    expect((statSync(path()).mode & 0o777).toString(8)).toBe('600')
    expect(problems).toEqual([expect.stringContaining('readable by others')])
  })

  it.each(['', '{"cut', '[]', ' '.repeat(5_000_000)])(
    '[F58] that are damaged count as none',
    async content => {
      await save(file(), 'one')
      writeFileSync(path(), content)
      expect(await file().read()).toBeUndefined()
      expect(problems).toEqual([expect.stringContaining('cannot be used')])
      await save(file(), 'two')
      expect(await file().read()).toEqual(login('two'))
    },
  )

  it('are changed by one at a time, without losing any', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `server ${at}`)
    await Promise.all(names.map(name => save(file(name), name)))
    const tokens = await Promise.all(names.map(async name => (await file(name).read())?.tokens?.access_token))
    expect(tokens).toEqual(names)
  })
})

describe('the lock', () => {
  /** As if its holder had been suspended for an hour. */
  const age = () => utimesSync(`${path()}.lock`, new Date(0), new Date(0))

  it('[F58] of a dead process holds up nobody', async () => {
    await save(file(), 'before')
    writeFileSync(`${path()}.lock`, '1 somebody else')
    age()
    await save(file(), 'after')
    expect(await file().read()).toEqual(login('after'))
    expect(readdirSync(folder)).toEqual(['logins.json'])
  })

  it('[F58] cannot be taken away from its new holder by the original one', async () => {
    let resume = () => {}
    let finish = () => {}
    let newHolderBegan = () => {}
    const began = new Promise<void>(resolve => {
      newHolderBegan = resolve
    })
    const first = file().update(async () => {
      await new Promise<void>(resolve => {
        resume = resolve
        age()
      })
      return login('stale')
    })
    const second = file().update(async () => {
      newHolderBegan()
      await new Promise<void>(resolve => {
        finish = resolve
      })
      return login('fresh')
    })
    await began
    resume()
    await first
    expect(readdirSync(folder)).toContain('logins.json.lock')
    finish()
    expect(await second).toEqual(login('fresh'))
    expect(await file().read()).toEqual(login('fresh'))
  })
})

it('[F58] two first logins at once register one client', async () => {
  await using oauth = await fakeOAuth()
  const servers = { remote: { url: oauth.url } }
  const begin = () => new Logins({ servers, folder }).of('remote')?.begin(REDIRECT) ?? ''
  const pages = await Promise.all([begin(), begin()])
  const clients = pages.map(page => new URL(page).searchParams.get('client_id'))
  expect(clients[0]).toBeTruthy()
  expect(clients[0]).toBe(clients[1])
})
