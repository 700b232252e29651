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
import { isRecord } from '../../util/guards.ts'

export interface Login {
  /** The authorization server all of this belongs to; nothing of it is sent to any other. */
  issuer?: string
  client?: StoredOAuthClientInformation
  /** A client registered for a login that is not finished yet. */
  registered?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
  /** Where the tokens came from and are renewed. */
  discovery?: OAuthDiscoveryState
  resource?: string
  /** The scope that a call was refused for. */
  wantedScope?: string | undefined
}

const WATCH_MS = 500
const LOCK_RETRY_MS = 50
const LOCK_TIMEOUT_MS = 60_000

/** Stores the login to one server, in a JSON file of mode 0600 with those to all servers of a project. */
export class LoginStore {
  readonly #folder: string | undefined
  readonly #file: string
  readonly #key: string
  readonly #onProblem: (problem: string) => void
  #kept: Login | undefined

  /** Without a folder, a login lasts as long as the program. `key` names the server and its URL. */
  constructor(folder: string | undefined, key: string, onProblem: (problem: string) => void) {
    this.#folder = folder
    this.#file = join(folder ?? '', 'logins.json')
    this.#key = key
    this.#onProblem = onProblem
  }

  /** `undefined` if there is none, or it cannot be read. */
  async read(): Promise<Login | undefined> {
    if (this.#folder === undefined) return this.#kept
    const { [this.#key]: login } = await this.#readAll()
    return isRecord(login) ? login : undefined
  }

  /** Replaces the login with what `work` makes of it, under a lock shared by all processes; resolves to what is stored. */
  async update(work: (login: Login | undefined) => Promise<Login | undefined>): Promise<Login | undefined> {
    const folder = this.#folder
    if (folder === undefined) {
      this.#kept = await work(this.#kept)
      return this.#kept
    }
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return locked(`${this.#file}.lock`, async () => {
      const login = await work(await this.read())
      const draft = `${this.#file}.${randomUUID()}`
      const all = { ...(await this.#readAll()), [this.#key]: login }
      await writeFile(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
      await rename(draft, this.#file)
      return login
    })
  }

  /** Calls `listener` when another process may have changed it; returns a function that stops it. */
  watch(listener: () => void): () => void {
    if (this.#folder === undefined) return () => {}
    const look = () => listener()
    watchFile(this.#file, { interval: WATCH_MS, persistent: false }, look)
    return () => unwatchFile(this.#file, look)
  }

  async #readAll(): Promise<Record<string, unknown>> {
    try {
      const logins: unknown = JSON.parse(await readFile(this.#file, 'utf8'))
      if (!isRecord(logins)) throw new Error('the file is malformed')
      return logins
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
  for (;;)
    try {
      await writeFile(file, HOLDER, { flag: 'wx', mode: 0o600 })
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const other = await readFile(file, 'utf8').catch(() => HOLDER)
      if (isLeftBehind(other)) await rm(file, { force: true })
      else if (Date.now() < giveUpAt) await pause(LOCK_RETRY_MS)
      else throw new Error(`${file} is held by process ${other}; delete it if that is not a Toolpost process`)
    }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
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
