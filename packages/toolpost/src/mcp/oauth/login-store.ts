import { createHash, randomBytes } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../../runtime/guards.ts'
import { hasFileModes } from '../../runtime/platform.ts'
import { LOCK_RETRY_MS, MAX_LOGIN_BYTES, STALE_LOCK_MS, WATCH_MS } from './limits.ts'
import type { Login } from './login.ts'
import { loginKey } from './login-key.ts'
import { seal, unseal } from './sealed.ts'

/** Stores the login to one server. */
export interface LoginStore {
  /** `undefined` if there is none, or it cannot be read. */
  read(): Promise<Login | undefined>
  /** `undefined` deletes it. */
  write(login: Login | undefined): Promise<void>
  /** Runs `work` under a lock shared by all processes. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Calls `listener` when another process may have changed it; returns a function that stops it. */
  watch(listener: () => void): () => void
}

/** For programs without a folder: a login lasts as long as they run. */
export function loginInMemory(): LoginStore {
  let kept: Login | undefined
  return {
    read: async () => kept,
    write: async login => {
      kept = login
    },
    alone: work => work(),
    watch: () => () => {},
  }
}

/** An encrypted file of mode 0600 in a folder of mode 0700, for one server at one URL. */
export class LoginFile implements LoginStore {
  readonly #folder: string
  readonly #owner: string
  readonly #file: string
  readonly #onProblem: (problem: string) => void

  constructor(folder: string, owner: { name: string; url: string }, onProblem: (problem: string) => void) {
    this.#folder = folder
    this.#owner = `${owner.name}\n${owner.url}`
    this.#file = join(folder, `${createHash('sha256').update(this.#owner).digest('hex').slice(0, 32)}.login`)
    this.#onProblem = onProblem
  }

  async read(): Promise<Login | undefined> {
    try {
      const { mode, size } = await stat(this.#file)
      if (hasFileModes && (mode & 0o077) !== 0) await this.#repair()
      if (size > MAX_LOGIN_BYTES) throw new Error('it is too large')
      const key = await loginKey(this.#folder, false)
      if (!key) throw new Error('its key is missing')
      const login: unknown = JSON.parse(unseal(await readFile(this.#file, 'utf8'), this.#owner, key))
      return isRecord(login) ? login : undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#onProblem(`the saved login cannot be used: ${(error as Error).message}`)
      return undefined
    }
  }

  /** Other users could read it: reports and fixes that. */
  async #repair(): Promise<void> {
    this.#onProblem('the saved login was readable by others; its mode was reset to 0600')
    await chmod(this.#file, 0o600)
  }

  async write(login: Login | undefined): Promise<void> {
    if (!login) return rm(this.#file, { force: true })
    await this.#makeFolder()
    const key = await loginKey(this.#folder, true)
    if (!key) throw new Error(`cannot store a key in ${this.#folder}`)
    const draft = `${this.#file}.${process.pid}.${randomBytes(4).toString('hex')}`
    try {
      await writeFile(draft, seal(JSON.stringify(login), this.#owner, key), { mode: 0o600, flag: 'wx' })
      await rename(draft, this.#file)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  async #makeFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await chmod(this.#folder, 0o700)
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#lock()
    try {
      return await work()
    } finally {
      await release()
    }
  }

  /** Taken by creating a file that must not exist; one left behind by a dead process is removed. */
  async #lock(): Promise<() => Promise<void>> {
    await this.#makeFolder()
    const lock = `${this.#file}.lock`
    for (;;) {
      try {
        await (await open(lock, 'wx', 0o600)).close()
        return () => rm(lock, { force: true })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const age = await stat(lock).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      )
      if (age > STALE_LOCK_MS) await rm(lock, { force: true })
      else await pause(LOCK_RETRY_MS)
    }
  }

  /** Polls, because that works on every file system, and before the file exists. */
  watch(listener: () => void): () => void {
    const look = () => listener()
    watchFile(this.#file, { interval: WATCH_MS, persistent: false }, look)
    return () => unwatchFile(this.#file, look)
  }
}
