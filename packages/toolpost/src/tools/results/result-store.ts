import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../runtime/clock.ts'

export interface ResultStoreOptions {
  /** How much is kept in total; the oldest is evicted first. 100 MB if left out. */
  maxBytes?: number | undefined
  /** How much of it stays in memory; the rest goes to files. 16 MB if left out. */
  memoryBytes?: number | undefined
  /** How long a result is kept. An hour if left out. */
  maxAgeMs?: number | undefined
  clock?: Clock | undefined
}

/** The owner of a result: nobody else can read it. */
export interface ResultOwner {
  caller?: string | undefined
  conversation?: string | undefined
}

/** Whether the results of an owner may be read. */
export type MayRead = (owner: ResultOwner) => boolean

/** Why a result cannot be read. */
export type Missing = 'expired' | 'foreign' | 'unknown'

/** What is known about a kept result without reading it. */
export interface KeptResult {
  readonly handle: string
  readonly mimeType: string
  readonly bytes: number
  readonly expiresAt: number
  /** What a model reads in its place. */
  readonly summary: string
}

interface Entry extends KeptResult {
  owner: ResultOwner
  content: Buffer | undefined
  /** Its file, once written. */
  file: Promise<string | undefined> | undefined
}

export interface KeepOptions {
  content: Buffer
  mimeType: string
  owner: ResultOwner
  /** Called once the handle is known. */
  summary(handle: string): string
}

export const HANDLE_PREFIX = 'result://'
/** However small they are, since each has a summary. */
const MAX_RESULTS = 2_000
/** How many evicted handles are remembered, to tell them from handles that never existed. */
const MAX_REMEMBERED = 2_000

/** Keeps large results for a while: in memory, then in files that nobody else can read. */
export class ResultStore {
  readonly #maxBytes: number
  readonly #memoryBytes: number
  readonly maxAgeMs: number
  readonly #clock: Clock
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #gone = new Map<string, ResultOwner>()
  #bytes = 0
  #inMemory = 0
  #folder: Promise<string> | undefined

  constructor(options: ResultStoreOptions = {}) {
    this.#maxBytes = options.maxBytes ?? 100_000_000
    this.#memoryBytes = options.memoryBytes ?? 16_000_000
    this.maxAgeMs = options.maxAgeMs ?? 60 * 60_000
    this.#clock = options.clock ?? systemClock
  }

  /** Keeps a result; `undefined` if it exceeds the total limit. */
  keep({ content, mimeType, owner, summary }: KeepOptions): KeptResult | undefined {
    this.#forgetOld()
    const bytes = content.length
    if (bytes > this.#maxBytes) return undefined
    for (const [handle] of this.#entries) {
      if (this.#bytes + bytes <= this.#maxBytes && this.#entries.size < MAX_RESULTS) break
      this.#forget(handle)
    }
    const handle = `${HANDLE_PREFIX}${randomUUID()}`
    const expiresAt = this.#clock.now() + this.maxAgeMs
    const { caller, conversation } = owner
    const entry: Entry = {
      ...{ handle, mimeType, bytes, expiresAt, content, summary: summary(handle) },
      owner: { caller, conversation },
      file: undefined,
    }
    this.#entries.set(handle, entry)
    this.#bytes += bytes
    this.#inMemory += bytes
    this.#moveToFiles()
    return entry
  }

  /** What is known about a result, or why it cannot be read. */
  find(handle: string, mayRead: MayRead): KeptResult | Missing {
    this.#forgetOld()
    const entry = this.#entries.get(handle)
    const owner = entry?.owner ?? this.#gone.get(handle)
    if (!owner) return 'unknown'
    if (!mayRead(owner)) return 'foreign'
    return entry ?? 'expired'
  }

  /** Whether there is any result that may be read. */
  hasAny(mayRead: MayRead): boolean {
    this.#forgetOld()
    for (const { owner } of this.#entries.values()) if (mayRead(owner)) return true
    return false
  }

  async read(handle: string, mayRead: MayRead): Promise<(KeptResult & { content: Buffer }) | Missing> {
    const found = this.find(handle, mayRead)
    const entry = this.#entries.get(handle)
    if (typeof found === 'string' || !entry) return found as Missing
    const content = entry.content ?? (await contentOf(entry.file))
    // The file was removed, or could not be written.
    return content ? { ...found, content } : 'expired'
  }

  /** Forgets everything and removes the files. */
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
    if (!entry.file) this.#inMemory -= entry.bytes
    void entry.file?.then(file => (file === undefined ? undefined : rm(file, { force: true })))
    this.#remember(handle, entry.owner)
  }

  #remember(handle: string, owner: ResultOwner): void {
    const [oldest] = this.#gone.keys()
    if (oldest !== undefined && this.#gone.size >= MAX_REMEMBERED) this.#gone.delete(oldest)
    this.#gone.set(handle, owner)
  }

  /** Moves the oldest results to files until the rest fit in memory. */
  #moveToFiles(): void {
    for (const entry of this.#entries.values()) {
      if (this.#inMemory <= this.#memoryBytes) return
      const { content } = entry
      if (!content || entry.file) continue
      this.#inMemory -= entry.bytes
      entry.file = this.#write(content)
      // A full disk costs only this result.
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

/** Only its owner, in the conversation it came from. */
export function onlyFor({ caller, conversation }: ResultOwner): MayRead {
  return owner => owner.caller === caller && owner.conversation === conversation
}

async function contentOf(file: Promise<string | undefined> | undefined): Promise<Buffer | undefined> {
  const path = await file
  return path === undefined ? undefined : readFile(path).catch(() => undefined)
}

/** Removed when the process exits. */
async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolpost-results-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
