import { safeText } from '../logging/safe-value.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { trimmedEnd } from '../runtime/trimmed-end.ts'
import { ModelError, type ModelErrorCode } from './model-error.ts'

/** How a provider's failures are worded. */
export interface ProviderWords {
  /** `Ollama at http://127.0.0.1:11434` */
  who: string
  /** What to do about a failure, if that is known. */
  advice: Partial<Record<ModelErrorCode, string>>
}

const WHAT_HAPPENED: Partial<Record<ModelErrorCode, string>> = {
  unreachable: 'cannot be reached',
  model_not_found: 'does not have the model',
  no_tools: 'cannot use tools with this model',
  unauthorized: 'rejected the key',
  rate_limited: 'is rate limiting requests',
  overloaded: 'is overloaded',
  rejected: 'rejected the request',
  truncated: 'broke off in the middle of its answer',
  invalid_response: 'sent a response that could not be read',
}

/** Any failure of a request as a ModelError: `<who> <what happened>: <its own words>. <advice>`. */
export function explainFailure(error: unknown, { who, advice }: ProviderWords): ModelError {
  const causes = [...chainOf(error)]
  const code = codeOf(causes)
  const tip = advice[code] ? `. ${advice[code]}` : ''
  const message = `${who} ${WHAT_HAPPENED[code] ?? 'failed'}: ${ownWords(error, causes)}${tip}`
  // Only a system error is kept: one from a provider's library may hold the request, and with it the key.
  const cause = causes.find(one => typeof one.code === 'string' && one.message !== undefined)
  return new ModelError(code, message, {
    retryAfterMs: retryAfterOf(causes[0]?.headers),
    ...(cause && { cause }),
  })
}

/** The fields that an error from the system, a provider or its library may have. */
interface Cause {
  code?: unknown
  type?: unknown
  message?: unknown
  status?: unknown
  status_code?: unknown
  headers?: unknown
  cause?: unknown
}

const MAX_CAUSES = 10

/** The error, its cause, the cause of that, and so on. */
function* chainOf(error: unknown): Generator<Cause> {
  let current = error
  for (let depth = 0; isObjectLike(current) && depth < MAX_CAUSES; depth++) {
    yield current
    current = (current as Cause).cause
  }
}

const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
])
const BROKEN_OFF =
  /terminated|UND_ERR_SOCKET|UND_ERR_BODY_TIMEOUT|ECONNRESET|EPIPE|premature|did not receive done/i

function codeOf(causes: readonly Cause[]): ModelErrorCode {
  const { status, status_code, message } = causes[0] ?? {}
  const known = [status, status_code].find(value => typeof value === 'number')
  if (known !== undefined) return codeOfStatus(known, String(message))
  if (causes.some(cause => NO_CONNECTION.has(String(cause.code)))) return 'unreachable'
  if (causes.some(cause => /overloaded_error/.test(`${cause.type} ${cause.message}`))) return 'overloaded'
  // undici: a request that failed before a response, and a body that ended too early.
  if (causes.some(cause => /fetch failed|connection error/i.test(String(cause.message)))) return 'unreachable'
  if (causes.some(cause => BROKEN_OFF.test(`${cause.code} ${cause.message}`))) return 'truncated'
  return 'invalid_response'
}

const CODES: Readonly<Record<number, ModelErrorCode>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'model_not_found',
  429: 'rate_limited',
  503: 'overloaded',
  529: 'overloaded',
}

function codeOfStatus(status: number, message: string): ModelErrorCode {
  const code = CODES[status]
  if (code !== 'unauthorized' && /does not support tools/i.test(message)) return 'no_tools'
  return code ?? (status >= 500 ? 'server_error' : 'rejected')
}

/** The innermost cause says the most: `connect ECONNREFUSED 127.0.0.1:11434`, not `fetch failed`. */
function ownWords(error: unknown, causes: readonly Cause[]): string {
  const words = causes.map(({ message }) => plainMessage(String(message ?? ''))).filter(Boolean)
  return trimmedEnd(safeText(words.at(-1) ?? String(error)), '. \n\t')
}

/** The provider's own message from an error body, without LangChain's link. */
function plainMessage(message: string): string {
  const plain = message.split('\n\nTroubleshooting URL:')[0]?.trim() ?? ''
  const start = plain.indexOf('{')
  if (start < 0 || !plain.endsWith('}')) return plain
  try {
    const { error } = JSON.parse(plain.slice(start)) as { error?: { message?: unknown } | string }
    const inner = typeof error === 'string' ? error : error?.message
    return typeof inner === 'string' ? inner : plain
  } catch {
    return plain
  }
}

/** `retry-after` in seconds or as a date. */
function retryAfterOf(headers: unknown): number | undefined {
  const value = headers instanceof Headers ? headers.get('retry-after')?.trim() : undefined
  if (!value) return undefined
  const seconds = Number(value)
  const delayMs = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1_000
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs)
}
