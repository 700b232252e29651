import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statSync, unwatchFile, utimesSync, watchFile, writeFileSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { isRecord } from '../../runtime/guards.ts'
import { hasFileModes } from '../../runtime/platform.ts'
import { LOCK_RETRY_MS, MAX_LOGINS_BYTES, STALE_LOCK_MS, WATCH_MS } from './limits.ts'

/** The stored login to one server. */
export interface Login {
  /** The authorization server all of this belongs to; nothing of it is sent to any other. */
  issuer?: string
  client?: StoredOAuthClientInformation
  /** A client registered for a login that is not finished yet. */
  registered?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens & { obtainedAt: number }
  /** Where the tokens came from and are renewed. */
  discovery?: OAuthDiscoveryState
  resource?: string
  /** What the server last asked for. */
  wanted?: { scope?: string | undefined; resourceMetadataUrl?: string | undefined }
}

/** Stores the login to one server. */
export interface LoginStore {
  /** `undefined` if there is none, or it cannot be read. */
  read(): Promise<Login | undefined>
  /** Replaces the login with what `work` makes of it, under a lock shared by all processes; resolves to what is stored. */
  update(work: (login: Login | undefined) => Promise<Login | undefined>): Promise<Login | undefined>
  /** Calls `listener` when another process may have changed it; returns a function that stops it. */
  watch(listener: () => void): () => void
}

/** For programs without a folder: a login lasts as long as they run. */
export function loginInMemory(): LoginStore {
  let kept: Login | undefined
  return {
    read: async () => kept,
    update: async work => {
      kept = await work(kept)
      return kept
    },
    watch: () => () => {},
  }
}

/** The logins of a project: one JSON file of mode 0600. Logins belong to a server at one URL. */
export class LoginFile implements LoginStore {
  readonly #folder: string
  readonly #file: string
  readonly #key: string
  readonly #onProblem: (problem: string) => void

  constructor(
    folder: string,
    { name, url }: { name: string; url: string },
    onProblem: (problem: string) => void,
  ) {
    this.#folder = folder
    this.#file = join(folder, 'logins.json')
    this.#key = `${name} ${url}`
    this.#onProblem = onProblem
  }

  async read(): Promise<Login | undefined> {
    const logins = await this.#readAll()
    const login = Object.hasOwn(logins, this.#key) ? logins[this.#key] : undefined
    return isRecord(login) ? login : undefined
  }

  async #readAll(): Promise<Record<string, unknown>> {
    try {
      const { mode, size } = await stat(this.#file)
      if (hasFileModes && (mode & 0o077) !== 0) {
        this.#onProblem('the saved logins were readable by others; the mode of the file was reset to 0600')
        await chmod(this.#file, 0o600)
      }
      if (size > MAX_LOGINS_BYTES) throw new Error('the file is too large')
      const logins: unknown = JSON.parse(await readFile(this.#file, 'utf8'))
      if (!isRecord(logins)) throw new Error('the file is malformed')
      return logins
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#onProblem(`the saved logins cannot be used: ${(error as Error).message}`)
      return {}
    }
  }

  async update(work: (login: Login | undefined) => Promise<Login | undefined>): Promise<Login | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const lock = await FileLock.take(`${this.#file}.lock`)
    try {
      const before = await this.read()
      const login = await work(before)
      if (login === before) return login
      // After a long suspension another process may hold the lock: what it stored counts.
      if (!lock.isHeld()) return await this.read()
      const { [this.#key]: _, ...others } = await this.#readAll()
      await this.#writeAll(login ? { ...others, [this.#key]: login } : others)
      return login
    } finally {
      lock.release()
    }
  }

  async #writeAll(logins: Record<string, unknown>): Promise<void> {
    const draft = `${this.#file}.${randomUUID()}`
    try {
      await writeFile(draft, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
      await rename(draft, this.#file)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  /** Polls, because that works on every file system, and before the file exists. */
  watch(listener: () => void): () => void {
    const look = () => listener()
    watchFile(this.#file, { interval: WATCH_MS, persistent: false }, look)
    return () => unwatchFile(this.#file, look)
  }
}

/**
 * A lock shared by processes: a file that names its holder, who touches it as long as it lives. One that was not touched for
 * long was left behind, and anybody may break it; its former holder then has no part in it any more.
 */
class FileLock {
  readonly #file: string
  readonly #holder = `${process.pid} ${randomUUID()}`
  #beat: NodeJS.Timeout | undefined

  private constructor(file: string) {
    this.#file = file
  }

  static async take(file: string): Promise<FileLock> {
    const lock = new FileLock(file)
    while (!create(file, lock.#holder)) {
      if (isStale(file)) breakLock(file)
      else await pause(LOCK_RETRY_MS)
    }
    lock.#beat = setInterval(() => lock.isHeld() && touch(file), STALE_LOCK_MS / 6).unref()
    return lock
  }

  isHeld(): boolean {
    return contentOf(this.#file) === this.#holder
  }

  release(): void {
    clearInterval(this.#beat)
    if (this.isHeld()) rmSync(this.#file, { force: true })
  }
}

/** Removes a lock that was left behind. One process at a time, so that nobody removes the lock of the next holder. */
function breakLock(file: string): void {
  const guard = `${file}.break`
  if (!create(guard, '')) {
    if (isStale(guard)) rmSync(guard, { force: true })
    return
  }
  if (isStale(file)) rmSync(file, { force: true })
  rmSync(guard, { force: true })
}

function create(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function touch(file: string): void {
  try {
    utimesSync(file, new Date(), new Date())
  } catch {
    // It is gone.
  }
}

function isStale(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs > STALE_LOCK_MS
  } catch {
    return false
  }
}
