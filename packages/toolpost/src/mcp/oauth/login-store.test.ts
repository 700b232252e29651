import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeOAuth } from '../../../test/fake-oauth/fake-oauth.ts'
import { type Login, LoginStore } from './login-store.ts'
import { Logins } from './logins.ts'

const REDIRECT = 'http://127.0.0.1:9/oauth/callback'
const login = (token: string): Login => ({
  tokens: { access_token: token, token_type: 'Bearer' },
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

/** The login to one server at one URL. */
function file(name = 'remote', url = 'https://server.example/mcp') {
  const store = new LoginStore(path(), problem => problems.push(problem))
  const key = `${name} ${url}`
  return {
    read: () => store.read(key),
    update: (work: () => Promise<Login>) => store.update(key, work),
  }
}

const save = (store: ReturnType<typeof file>, token: string) => store.update(async () => login(token))
const path = () => join(folder, 'logins.json')

describe('saved logins', () => {
  it('[F58] are in one file for their owner alone, each of one server at one URL', async () => {
    await save(file(), 'one')
    await save(file('other'), 'two')
    expect([await file().read(), await file('other').read()]).toEqual([login('one'), login('two')])
    expect(await file('remote', 'https://elsewhere.example/mcp').read()).toEqual({})
    expect((statSync(path()).mode & 0o777).toString(8)).toBe('600')
    expect(readdirSync(folder)).toEqual(['.gitignore', 'logins.json'])
    await file().update(async () => ({}))
    expect([await file().read(), await file('other').read()]).toEqual([{}, login('two')])
  })

  it('[F58] that are damaged count as none', async () => {
    await save(file(), 'one')
    writeFileSync(path(), '{"cut')
    expect(await file().read()).toEqual({})
    expect(problems[0]).toContain('cannot be used')
    await save(file(), 'two')
    expect(await file().read()).toEqual(login('two'))
  })
})

it('[F58] the lock of a dead process holds up nobody, and that of a living one is never broken', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  await save(file(), 'before')
  writeFileSync(`${path()}.lock`, `${pid} somebody else`)
  await save(file(), 'after')
  expect(await file().read()).toEqual(login('after'))
  writeFileSync(`${path()}.lock`, `${process.ppid} somebody else`)
  const waiting = save(file(), 'last')
  await expect.poll(() => readdirSync(folder)).toContain('logins.json.lock')
  expect(await file().read()).toEqual(login('after'))
  rmSync(`${path()}.lock`)
  await waiting
  expect(await file().read()).toEqual(login('last'))
  expect(readdirSync(folder)).toEqual(['.gitignore', 'logins.json'])
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
