import { plainCopy } from '../logging/plain-value.ts'
import { cleaner } from '../logging/safe-value.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'

export interface LoggedMessage {
  seq: number
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

interface Kept extends Pick<LoggedMessage, 'seq' | 'direction' | 'bytes'> {
  at: number
  message: { method?: string; id?: string | number; error?: unknown }
}

const KEPT_MESSAGES = 500
const SHOWN_BYTES = 16 * 1024
const LIMITS = { maxDepth: 50, maxEntries: 1_000, maxBytes: SHOWN_BYTES, maxValues: 2_000 }
/** A progress token is no secret. */
const secret: typeof cleaner.secret = (key, value) =>
  key === 'progressToken' ? undefined : cleaner.secret(key, value)

/** Of a message over HTTP; one that is nested too deeply to tell counts as large. */
function sizeOf(message: object): number {
  try {
    return JSON.stringify(message).length
  } catch {
    return MAX_MESSAGE_BYTES
  }
}

/** The last messages of a server. Cleaned only when somebody looks, since every message passes here; a large one at once. */
export class MessageLog {
  readonly #kept: Kept[] = []
  #seq = 0

  add(direction: LoggedMessage['direction'], given: object, bytes = sizeOf(given)): void {
    const message = (bytes > SHOWN_BYTES ? plainCopy(given, LIMITS).value : given) as Kept['message']
    this.#kept.push({ seq: ++this.#seq, at: Date.now(), direction, message, bytes })
    if (this.#kept.length > KEPT_MESSAGES) this.#kept.shift()
  }

  /** Those with a higher number than `after`, oldest first. */
  read(after: number): LoggedMessage[] {
    const shown = ({ at, message, ...rest }: Kept): LoggedMessage => {
      const { method, id, error } = message
      const isRequest = ({ direction, ...other }: Kept) =>
        other.message.id === id && other.message.method !== undefined && direction !== rest.direction
      const request =
        method === undefined ? this.#kept.findLast(each => each.seq < rest.seq && isRequest(each)) : undefined
      let kind: LoggedMessage['kind'] = error === undefined ? 'response' : 'error'
      if (method !== undefined) kind = id === undefined ? 'notification' : 'request'
      return {
        ...rest,
        time: new Date(at).toISOString(),
        kind,
        ...(method !== undefined && { method }),
        ...(id !== undefined && { id }),
        ...(request && { duration_ms: at - request.at }),
        message: plainCopy(message, { ...LIMITS, cleaner: { ...cleaner, secret } }).value,
      }
    }
    return this.#kept.filter(({ seq }) => seq > after).map(shown)
  }
}
