import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../util/clock.ts'

export interface ResultStoreOptions {
  /** How much is kept in total; the oldest is evicted first. 50 MB if left out. */
  maxBytes?: number | undefined
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

interface NewResult extends Pick<KeptResult, 'mimeType'> {
  content: Buffer
  owner: ResultOwner
  /** Called once the handle is known. */
  summary(handle: string): string
}

export const HANDLE_PREFIX = 'result://'
/** Those that have expired are told from those that never existed. */
const MAX_RESULTS = 4_000

export type ResultStore = ReturnType<typeof createResultStore>

/** Keeps large results in memory for a while. */
export function createResultStore(options: ResultStoreOptions = {}) {
  const { maxBytes = 50_000_000, maxAgeMs = 60 * 60_000, clock = systemClock } = options
  /** Oldest first; without content once expired. */
  const entries = new Map<string, KeptResult & { owner: ResultOwner; content: Buffer | undefined }>()

  function find(handle: string, mayRead: MayRead) {
    expireOld()
    const entry = entries.get(handle)
    if (!entry) return 'unknown'
    if (!mayRead(entry.owner)) return 'foreign'
    const { content, owner, ...known } = entry
    return content ? { ...known, content } : 'expired'
  }

  function expireOld(room = 0): void {
    const kept = [...entries.values()].filter(({ content }) => content)
    let bytes = kept.reduce((sum, entry) => sum + entry.bytes, room)
    for (const entry of kept) {
      if (entry.expiresAt > clock.now() && bytes <= maxBytes) return
      bytes -= entry.bytes
      entry.content = undefined
    }
  }

  return {
    maxAgeMs,
    /** Keeps a result; `undefined` if it exceeds the total limit. */
    keep({ content, mimeType, owner, summary }: NewResult): KeptResult | undefined {
      const bytes = content.length
      if (bytes > maxBytes) return undefined
      expireOld(bytes)
      const handle = `${HANDLE_PREFIX}${randomUUID()}`
      const known = { handle, mimeType, bytes, expiresAt: clock.now() + maxAgeMs, summary: summary(handle) }
      entries.set(handle, { ...known, owner, content })
      const [oldest = ''] = entries.keys()
      if (entries.size > MAX_RESULTS) entries.delete(oldest)
      return known
    },
    /** What is known about a result, or why it cannot be read. */
    find: find as (handle: string, mayRead: MayRead) => KeptResult | Missing,
    /** Whether there is any result that may be read. */
    hasAny: (mayRead: MayRead) =>
      [...entries.keys()].some(handle => typeof find(handle, mayRead) !== 'string'),
    read: async (handle: string, mayRead: MayRead): Promise<(KeptResult & { content: Buffer }) | Missing> =>
      find(handle, mayRead),
    /** Forgets everything. */
    async close(): Promise<void> {
      for (const entry of entries.values()) entry.content = undefined
    },
  }
}

/** Only its owner, in the conversation it came from. */
export function onlyFor({ caller, conversation }: ResultOwner): MayRead {
  return owner => owner.caller === caller && owner.conversation === conversation
}
