import { randomUUID } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import { isRecord } from '../../util/guards.ts'

export interface Login {
  client?: StoredOAuthClientInformation | undefined
  tokens?: StoredOAuthTokens | undefined
  /** Where the tokens came from and are renewed. */
  discovery?: OAuthDiscoveryState
  resource?: string
  /** The scope that a call was refused for. */
  wantedScope?: string | undefined
}

const WATCH_MS = 500
const LOCK_RETRY_MS = 50
const LOCK_TIMEOUT_MS = 60_000

/** The logins to the servers of a project, by name and URL, in one JSON file of mode 0600. */
export class LoginStore {
  readonly #folder: string | undefined
  readonly #file: string
  readonly #onProblem: (problem: string) => void
  readonly #watchers = new Set<() => void>()
  #kept: Record<string, unknown> = {}

  /** Without a folder, a login lasts as long as the program. */
  constructor(folder: string | undefined, onProblem: (problem: string) => void) {
    this.#folder = folder
    this.#file = join(folder ?? '', 'logins.json')
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
    const change = async () => {
      const before = await this.read(key)
      const login = await work(before)
      if (login === before) return login
      const all = { ...(await this.#readAll()), [key]: Object.keys(login).length > 0 ? login : undefined }
      if (this.#folder === undefined) this.#kept = all
      else {
        const draft = `${this.#file}.${randomUUID()}`
        await writeFile(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
        await rename(draft, this.#file)
      }
      for (const look of this.#watchers) look()
      return login
    }
    if (this.#folder === undefined) return change()
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return locked(`${this.#file}.lock`, change)
  }

  /** Calls `listener` when a login may have changed, even by another process; returns a function that stops it. */
  watch(listener: () => void): () => void {
    const look = () => listener()
    this.#watchers.add(look)
    if (this.#folder !== undefined) watchFile(this.#file, { interval: WATCH_MS, persistent: false }, look)
    return () => {
      this.#watchers.delete(look)
      unwatchFile(this.#file, look)
    }
  }

  async #readAll(): Promise<Record<string, unknown>> {
    if (this.#folder === undefined) return this.#kept
    try {
      const logins: unknown = JSON.parse(await readFile(this.#file, 'utf8'))
      if (isRecord(logins)) return logins
      this.#onProblem('the saved logins cannot be used: the file is malformed')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') this.#onProblem(`the saved logins cannot be used: ${message}`)
    }
    return {}
  }
}

/** Names this process, even if another had its id before. */
const HOLDER = `${process.pid} ${randomUUID()}`

/** Runs `work` while holding a lock file that names its holder. One whose process has ended was left behind. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + LOCK_TIMEOUT_MS
  const take = () => writeFile(file, HOLDER, { flag: 'wx', mode: 0o600 })
  for (let error = await take().catch(Object); error; error = await take().catch(Object)) {
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
