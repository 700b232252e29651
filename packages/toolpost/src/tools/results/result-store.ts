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
  /** In memory, or in a file of the folder. Without either it has expired. */
  content?: Buffer | undefined
  file?: Promise<string | undefined> | undefined
}

interface KeepOptions {
  content: Buffer
  mimeType: string
  owner: ResultOwner
  /** Called once the handle is known. */
  summary(handle: string): string
}

export const HANDLE_PREFIX = 'result://'
/** However small they are, since each has a summary; those that have expired are told from those that never existed. */
const MAX_RESULTS = 4_000

export type ResultStore = ReturnType<typeof createResultStore>

/** Keeps large results for a while: the newest in memory, the others in one folder that nobody else can read. */
export function createResultStore(options: ResultStoreOptions = {}) {
  const { maxBytes = 100_000_000, memoryBytes = 16_000_000, clock = systemClock } = options
  const maxAgeMs = options.maxAgeMs ?? 60 * 60_000
  /** Oldest first. */
  const entries = new Map<string, Entry>()
  let folder: Promise<string> | undefined

  const isKept = ({ content, file }: Entry) => content !== undefined || file !== undefined
  const total = (counts: (entry: Entry) => boolean) =>
    [...entries.values()].reduce((sum, entry) => sum + (counts(entry) ? entry.bytes : 0), 0)

  function expire(entry: Entry): void {
    void entry.file?.then(file => (file === undefined ? undefined : rm(file, { force: true })))
    entry.content = undefined
    entry.file = undefined
  }

  function expireOld(room = 0): void {
    let bytes = total(isKept)
    for (const entry of entries.values()) {
      if (!isKept(entry)) continue
      if (entry.expiresAt > clock.now() && bytes + room <= maxBytes) return
      bytes -= entry.bytes
      expire(entry)
    }
  }

  /** A full disk costs only this result. */
  async function write(content: Buffer): Promise<string | undefined> {
    try {
      folder ??= createFolder()
      const file = join(await folder, randomUUID())
      await writeFile(file, content, { mode: 0o600 })
      return file
    } catch {
      return undefined
    }
  }

  function moveToFiles(): void {
    let inMemory = total(({ content }) => content !== undefined)
    for (const entry of entries.values()) {
      if (inMemory <= memoryBytes) return
      if (!entry.content) continue
      inMemory -= entry.bytes
      entry.file = write(entry.content)
      entry.content = undefined
    }
  }

  function find(handle: string, mayRead: MayRead): Entry | Missing {
    expireOld()
    const entry = entries.get(handle)
    if (!entry) return 'unknown'
    if (!mayRead(entry.owner)) return 'foreign'
    return isKept(entry) ? entry : 'expired'
  }

  return {
    maxAgeMs,

    /** Keeps a result; `undefined` if it exceeds the total limit. */
    keep({
      content,
      mimeType,
      owner: { caller, conversation },
      summary,
    }: KeepOptions): KeptResult | undefined {
      const bytes = content.length
      if (bytes > maxBytes) return undefined
      expireOld(bytes)
      const handle = `${HANDLE_PREFIX}${randomUUID()}`
      const expiresAt = clock.now() + maxAgeMs
      const known = { handle, mimeType, bytes, expiresAt, summary: summary(handle) }
      entries.set(handle, { ...known, owner: { caller, conversation }, content })
      const [oldest] = entries.values()
      if (oldest && entries.size > MAX_RESULTS) {
        expire(oldest)
        entries.delete(oldest.handle)
      }
      moveToFiles()
      return known
    },

    /** What is known about a result, or why it cannot be read. */
    find: find as (handle: string, mayRead: MayRead) => KeptResult | Missing,

    /** Whether there is any result that may be read. */
    hasAny(mayRead: MayRead): boolean {
      expireOld()
      return [...entries.values()].some(entry => isKept(entry) && mayRead(entry.owner))
    },

    async read(handle: string, mayRead: MayRead): Promise<(KeptResult & { content: Buffer }) | Missing> {
      const found = find(handle, mayRead)
      if (typeof found === 'string') return found
      const file = await found.file
      const content = found.content ?? (file && (await readFile(file).catch(() => undefined)))
      // The file was removed, or could not be written.
      return content ? { ...found, content } : 'expired'
    },

    /** Forgets everything and removes the files. */
    async close(): Promise<void> {
      for (const entry of entries.values()) expire(entry)
      const path = await folder
      folder = undefined
      if (path !== undefined) await rm(path, { recursive: true, force: true })
    },
  }
}

/** Only its owner, in the conversation it came from. */
export function onlyFor({ caller, conversation }: ResultOwner): MayRead {
  return owner => owner.caller === caller && owner.conversation === conversation
}

/** Removed when the process exits. */
async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolpost-results-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
