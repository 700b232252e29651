import { randomUUID } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type * as sdk from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import { isRecord } from '../../util/guards.ts'
import { makePrivateFolder, writePrivate } from '../../util/private-file.ts'

export interface Login {
  client?: sdk.StoredOAuthClientInformation | undefined
  tokens?: sdk.StoredOAuthTokens | undefined
  /** Where the tokens came from and are renewed. */
  discovery?: sdk.OAuthDiscoveryState
  resource?: string
  /** The scope that a call was refused for. */
  wantedScope?: string | undefined
}

const WATCH_MS = 500
const LOCK_RETRY_MS = 50
const LOCK_TIMEOUT_MS = 60_000

/** The logins to the servers of a project, by name and URL, in one JSON file of mode 0600. */
export class LoginStore {
  readonly #file: string | undefined
  readonly #onProblem: (problem: string) => void
  readonly #watchers = new Set<() => void>()
  #kept: Record<string, unknown> = {}

  /** Without a file, a login lasts as long as the program. */
  constructor(file: string | undefined, onProblem: (problem: string) => void) {
    this.#file = file
    this.#onProblem = onProblem
  }

  /** Empty if there is none, or it cannot be read. */
  async read(key: string): Promise<Login> {
    const { [key]: found } = await this.#readAll()
    const login: Login = isRecord(found) ? found : {}
    removeFromLogs([login.tokens?.access_token ?? '', login.tokens?.refresh_token ?? ''])
    return login
  }

  /** Replaces a login with what `work` makes of it, under a lock shared by all processes; resolves to what is stored. */
  async update(key: string, work: (login: Login) => Promise<Login>): Promise<Login> {
    const file = this.#file
    const change = async () => {
      const before = await this.read(key)
      const login = await work(before)
      if (login === before) return login
      this.#kept = { ...(await this.#readAll()), [key]: Object.keys(login).length > 0 ? login : undefined }
      if (file !== undefined) writePrivate(file, `${JSON.stringify(this.#kept, null, 2)}\n`)
      for (const look of this.#watchers) look()
      return login
    }
    if (file === undefined) return change()
    makePrivateFolder(dirname(file))
    return locked(`${file}.lock`, change)
  }

  /** Calls `listener` when a login may have changed, even by another process; returns a function that stops it. */
  watch(listener: () => void): () => void {
    const look = () => listener()
    this.#watchers.add(look)
    if (this.#file) watchFile(this.#file, { interval: WATCH_MS, persistent: false }, look)
    return () => {
      this.#watchers.delete(look)
      if (this.#file) unwatchFile(this.#file, look)
    }
  }

  async #readAll(): Promise<Record<string, unknown>> {
    if (this.#file === undefined) return this.#kept
    try {
      const logins: unknown = JSON.parse(await readFile(this.#file, 'utf8'))
      if (isRecord(logins)) return logins
      throw new Error('the file is malformed')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') this.#onProblem(`the saved logins cannot be used: ${message}`)
      return {}
    }
  }
}

/** Names this process, even if another had its id before. */
const HOLDER = `${process.pid} ${randomUUID()}`

/** Runs `work` while holding a lock file that names its holder. One whose process has ended was left behind. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + LOCK_TIMEOUT_MS
  const take = () => writeFile(file, HOLDER, { flag: 'wx', mode: 0o600 }).catch(error => error)
  for (let error = await take(); error; error = await take()) {
    if (error.code !== 'EEXIST') throw error
    const other = await readFile(file, 'utf8').catch(() => HOLDER)
    if (isLeftBehind(other)) await rm(file, { force: true })
    else if (Date.now() < giveUpAt) await pause(LOCK_RETRY_MS)
    else throw new Error(`${file} is held by process ${other}; delete it if that is not a Toolpost process`)
  }
  return work().finally(() => rm(file, { force: true }))
}

function isLeftBehind(holder: string): boolean {
  const pid = Number.parseInt(holder, 10)
  if (pid === process.pid) return holder !== HOLDER
  try {
    return !process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
