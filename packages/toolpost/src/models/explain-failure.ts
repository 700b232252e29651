import { safeText } from '../logging/safe-value.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { trimmedEnd } from '../runtime/trimmed-end.ts'
import { ModelError, type ModelErrorCode } from './model-error.ts'

/** What a provider says about itself when something goes wrong. */
export interface ProviderWords {
  /** `Ollama at http://127.0.0.1:11434` */
  who: string
  /** What to do about a failure, if the provider knows. */
  advice: Partial<Record<ModelErrorCode, string>>
}

const WHAT_HAPPENED: Partial<Record<ModelErrorCode, string>> = {
  unreachable: 'cannot be reached',
  model_not_found: 'does not have the model',
  no_tools: 'has a model that cannot use tools',
  unauthorized: 'does not accept the key',
  rate_limited: 'gets too many requests',
  overloaded: 'is overloaded',
  rejected: 'refuses the request',
  server_error: 'failed',
  truncated: 'broke off in the middle of its answer',
  invalid_response: 'gave an answer that cannot be understood',
}

/** Any failure of a request as a ModelError: `<who> <what happened>: <its own words>. <advice>`. */
export function explainFailure(error: unknown, { who, advice }: ProviderWords): ModelError {
  const code = codeOf(error)
  const words = ownWords(error)
  const tip = advice[code] ? `. ${advice[code]}` : ''
  return new ModelError(code, `${who} ${WHAT_HAPPENED[code] ?? 'failed'}: ${words}${tip}`, {
    retryAfterMs: retryAfterOf(error),
    ...causeOf(error),
  })
}

/** Only an error of the system is kept: that of a provider's library may hold the request, and with it the key. */
function causeOf(error: unknown): { cause?: unknown } {
  const cause = [...chainOf(error)].find(
    ({ code, message }) => typeof code === 'string' && message !== undefined,
  )
  return cause ? { cause } : {}
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

function codeOf(error: unknown): ModelErrorCode {
  const status = statusOf(error)
  if (status !== undefined) return codeOfStatus(status, messageOf(error))
  const causes = [...chainOf(error)]
  if (causes.some(cause => NO_CONNECTION.has(String(cause.code)))) return 'unreachable'
  if (causes.some(cause => /overloaded_error/.test(`${cause.type} ${cause.message}`))) return 'overloaded'
  // undici: a request that failed before there was an answer, and a body that ended too early.
  if (causes.some(cause => /fetch failed|connection error/i.test(String(cause.message)))) return 'unreachable'
  if (causes.some(cause => BROKEN_OFF.test(`${cause.code} ${cause.message}`))) return 'truncated'
  return 'invalid_response'
}

const BROKEN_OFF =
  /terminated|UND_ERR_SOCKET|UND_ERR_BODY_TIMEOUT|ECONNRESET|EPIPE|premature|did not receive done/i

function codeOfStatus(status: number, message: string): ModelErrorCode {
  if (status === 401 || status === 403) return 'unauthorized'
  if (/does not support tools/i.test(message)) return 'no_tools'
  if (status === 404) return 'model_not_found'
  if (status === 429) return 'rate_limited'
  if (status === 503 || status === 529) return 'overloaded'
  return status >= 500 ? 'server_error' : 'rejected'
}

function statusOf(error: unknown): number | undefined {
  if (!isObjectLike(error)) return undefined
  const { status, status_code } = error as { status?: unknown; status_code?: unknown }
  return [status, status_code].find(value => typeof value === 'number') as number | undefined
}

/** The innermost cause says the most: `fetch failed` says nothing, `connect ECONNREFUSED 127.0.0.1:11434` all. */
function ownWords(error: unknown): string {
  const words = [...chainOf(error)].map(cause => plainMessage(String(cause.message ?? ''))).filter(Boolean)
  return trimmedEnd(safeText(words.at(-1) ?? safeText(String(error))), '. \n\t')
}

/** The provider's own message out of an error body, without LangChain's link. */
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

function messageOf(error: unknown): string {
  return isObjectLike(error) ? String((error as { message?: unknown }).message) : String(error)
}

interface Cause {
  code?: unknown
  type?: unknown
  message?: unknown
}

const MAX_CAUSES = 10

function* chainOf(error: unknown): Generator<Cause> {
  let current = error
  for (let depth = 0; isObjectLike(current) && depth < MAX_CAUSES; depth++) {
    yield current as Cause
    current = (current as { cause?: unknown }).cause
  }
}

/** `retry-after` in seconds or as a date. */
function retryAfterOf(error: unknown): number | undefined {
  const headers = isObjectLike(error) ? (error as { headers?: unknown }).headers : undefined
  const value = headers instanceof Headers ? headers.get('retry-after') : null
  if (value === null || value.trim() === '') return undefined
  const seconds = Number(value)
  const delayMs = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1_000
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs)
}
