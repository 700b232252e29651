import { cleaner } from '../logging/safe-value.ts'
import { type Cleaner, plainCopy } from '../runtime/plain-value.ts'

/** A JSON-RPC message between Toolpost and a server. */
export interface LoggedMessage {
  seq: number
  /** ISO time. */
  time: string
  direction: 'sent' | 'received'
  kind: 'request' | 'response' | 'error' | 'notification'
  method?: string
  id?: string | number
  /** Of a response: since its request. */
  duration_ms?: number
  bytes: number
  /** Without secrets; a large one is shortened. */
  message: unknown
}

interface Kept {
  seq: number
  at: number
  direction: LoggedMessage['direction']
  message: { method?: string; id?: string | number; error?: unknown }
  bytes: number | undefined
}

const KEPT_MESSAGES = 500
const SHOWN_BYTES = 16 * 1024
/** A progress token is none. */
const CLEANER: Cleaner = {
  ...cleaner,
  secret: (key, value) => (key === 'progressToken' ? undefined : cleaner.secret(key, value)),
}
const LIMITS = { maxDepth: 50, maxEntries: 1_000, maxBytes: SHOWN_BYTES, maxValues: 2_000 }

/**
 * The last messages of a server. Every message passes here, so it is only referred to, and made presentable when somebody
 * looks; a large one is shortened at once, so that it is not kept in memory.
 */
export class MessageLog {
  readonly #ring: Kept[] = []
  #seq = 0

  add(direction: LoggedMessage['direction'], given: object, bytes?: number): void {
    const seq = ++this.#seq
    const isLarge = bytes === undefined ? sizeUpTo(given) > SHOWN_BYTES : bytes > SHOWN_BYTES
    const message = (isLarge ? plainCopy(given, LIMITS).value : given) as Kept['message']
    const size = bytes ?? (isLarge ? JSON.stringify(given).length : undefined)
    this.#ring[seq % KEPT_MESSAGES] = { seq, at: Date.now(), direction, message, bytes: size }
  }

  /** Those with a higher number than `after`, oldest first. */
  read({ after = 0 }: { after?: number | undefined } = {}): LoggedMessage[] {
    const all = this.#ring.filter(each => each !== undefined).sort((a, b) => a.seq - b.seq)
    const requests = new Map<string, number>()
    const shown: LoggedMessage[] = []
    for (const kept of all) {
      const { method, id } = kept.message
      // Both sides number their requests.
      const isRequest = method !== undefined && id !== undefined
      const asker = isRequest === (kept.direction === 'sent') ? 'ours' : 'theirs'
      if (isRequest) requests.set(`${asker} ${id}`, kept.at)
      const askedAt = isRequest ? undefined : requests.get(`${asker} ${id}`)
      if (kept.seq > after) shown.push(show(kept, method === undefined ? askedAt : undefined))
    }
    return shown
  }
}

function show({ seq, at, direction, message, bytes }: Kept, askedAt: number | undefined): LoggedMessage {
  const { method, id } = message
  const copy = plainCopy(message, { ...LIMITS, cleaner: CLEANER })
  return {
    seq,
    time: new Date(at).toISOString(),
    direction,
    kind: kindOf(message),
    ...(method !== undefined && { method }),
    ...(id !== undefined && { id }),
    ...(askedAt !== undefined && { duration_ms: at - askedAt }),
    bytes: bytes ?? copy.bytes,
    message: copy.value,
  }
}

function kindOf({ method, id, error }: Kept['message']): LoggedMessage['kind'] {
  if (method !== undefined) return id === undefined ? 'notification' : 'request'
  return error === undefined ? 'response' : 'error'
}

/** The approximate size of a message; stops counting when it is large. */
function sizeUpTo(message: object): number {
  let size = 0
  const waiting: unknown[] = [message]
  while (waiting.length > 0 && size <= SHOWN_BYTES) {
    const value = waiting.pop()
    size += typeof value === 'string' ? value.length : 8
    if (typeof value !== 'object' || value === null) continue
    for (const key in value) {
      size += key.length
      waiting.push((value as Record<string, unknown>)[key])
      if (size > SHOWN_BYTES) break
    }
  }
  return size
}
