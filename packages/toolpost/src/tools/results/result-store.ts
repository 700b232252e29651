import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../runtime/clock.ts'

export interface ResultStoreOptions {
  /** How much is kept in all; the oldest goes first. 100 MB if left out. */
  maxBytes?: number | undefined
  /** How much of it stays in memory; the rest is in files. 16 MB if left out. */
  memoryBytes?: number | undefined
  /** How long a result is kept. An hour if left out. */
  maxAgeMs?: number | undefined
  clock?: Clock | undefined
}

/** Whose a result is: nobody else can read it. */
export interface ResultOwner {
  caller?: string | undefined
  conversation?: string | undefined
}

/** What is known of a kept result without reading it. */
export interface KeptResult {
  readonly handle: string
  readonly mimeType: string
  readonly bytes: number
  readonly expiresAt: number
}

interface Entry extends KeptResult {
  owner: string
  content: Buffer | undefined
  /** Where it is, or will be when it is written. */
  file: Promise<string | undefined> | undefined
}

export const HANDLE_PREFIX = 'result://'

/** Results that are too large to be read whole, for a while: in memory, then in files that nobody else can read. */
export class ResultStore {
  readonly #maxBytes: number
  readonly #memoryBytes: number
  readonly maxAgeMs: number
  readonly #clock: Clock
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  #inMemory = 0
  #folder: Promise<string> | undefined

  constructor(options: ResultStoreOptions = {}) {
    this.#maxBytes = options.maxBytes ?? 100_000_000
    this.#memoryBytes = options.memoryBytes ?? 16_000_000
    this.maxAgeMs = options.maxAgeMs ?? 60 * 60_000
    this.#clock = options.clock ?? systemClock
  }

  /** Keeps a result; `undefined` if it is larger than all that may be kept. */
  keep(content: Buffer, mimeType: string, owner: ResultOwner): KeptResult | undefined {
    this.#forgetOld()
    if (content.length > this.#maxBytes) return undefined
    for (const [handle] of this.#entries) {
      if (this.#bytes + content.length <= this.#maxBytes) break
      this.#forget(handle)
    }
    const entry: Entry = {
      handle: `${HANDLE_PREFIX}${randomUUID()}`,
      mimeType,
      bytes: content.length,
      expiresAt: this.#clock.now() + this.maxAgeMs,
      owner: keyOf(owner),
      content,
      file: undefined,
    }
    this.#entries.set(entry.handle, entry)
    this.#bytes += entry.bytes
    this.#inMemory += entry.bytes
    this.#moveToFiles()
    return entry
  }

  /** What is known of it; `undefined` if it expired, never was, or is somebody else's. */
  find(handle: string, owner: ResultOwner): KeptResult | undefined {
    this.#forgetOld()
    const entry = this.#entries.get(handle)
    return entry?.owner === keyOf(owner) ? entry : undefined
  }

  async read(handle: string, owner: ResultOwner): Promise<Buffer | undefined> {
    if (!this.find(handle, owner)) return undefined
    const entry = this.#entries.get(handle)
    if (entry?.content) return entry.content
    const file = await entry?.file
    return file === undefined ? undefined : readFile(file).catch(() => undefined)
  }

  /** Forgets everything, and removes the files. */
  async close(): Promise<void> {
    for (const handle of [...this.#entries.keys()]) this.#forget(handle)
    const folder = await this.#folder
    this.#folder = undefined
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }

  #forgetOld(): void {
    const now = this.#clock.now()
    for (const [handle, { expiresAt }] of this.#entries) {
      if (expiresAt > now) return
      this.#forget(handle)
    }
  }

  #forget(handle: string): void {
    const entry = this.#entries.get(handle)
    if (!entry) return
    this.#entries.delete(handle)
    this.#bytes -= entry.bytes
    if (entry.content) this.#inMemory -= entry.bytes
    void entry.file?.then(file => (file === undefined ? undefined : rm(file, { force: true })))
  }

  /** The oldest that are still in memory, until the rest has room there. */
  #moveToFiles(): void {
    for (const entry of this.#entries.values()) {
      if (this.#inMemory <= this.#memoryBytes) return
      const { content } = entry
      if (!content) continue
      this.#inMemory -= entry.bytes
      entry.file = this.#write(content)
      // A disk that is full costs this one result.
      void entry.file.then(() => {
        entry.content = undefined
      })
    }
  }

  async #write(content: Buffer): Promise<string | undefined> {
    try {
      this.#folder ??= createFolder()
      const file = join(await this.#folder, randomUUID())
      await writeFile(file, content, { mode: 0o600 })
      return file
    } catch {
      return undefined
    }
  }
}

/** One that goes with the process. */
async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolpost-results-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function keyOf({ caller = '', conversation = '' }: ResultOwner): string {
  return JSON.stringify([caller, conversation])
}
