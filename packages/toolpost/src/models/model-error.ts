import type { ToolResult } from '../call/tool-result.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike } from '../util/guards.ts'

/** Why a question got no answer. */
export const MODEL_ERROR_CODES = [
  'empty_question', // the question is empty
  'stopped', // the caller's signal was aborted
  'unknown_provider', // there is no provider with that name
  'missing_key', // there is no API key
  'missing_package', // LangChain, or its package for the provider, is not installed
  'unreachable', // nothing answers at the address
  'model_not_found', // the provider does not have the model
  'no_tools', // the model cannot use tools
  'unauthorized', // the key is wrong or lacks permission
  'rate_limited', // too many requests, even after waiting as long as the time limit allows
  'overloaded', // the provider is overloaded, even after waiting
  'rejected', // the provider rejected the request
  'server_error', // the provider failed
  'truncated', // the answer broke off or reached the model's token limit
  'invalid_response', // the response could not be read
] as const

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number]

/** The model gave no answer. The message says what to do and never contains a key. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly code: ModelErrorCode
  /** How long the provider asked us to wait, if it did. */
  readonly retryAfterMs: number | undefined
  /** Results of the calls made before the failure; their effects remain. */
  results: readonly ToolResult[] = []

  constructor(
    code: ModelErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options)
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}

export function missingKey(provider: 'anthropic' | 'openai'): ModelError {
  const other = provider === 'openai' ? ', or OPENAI_BASE_URL to another server' : ''
  const name = provider === 'openai' ? 'OpenAI' : 'Anthropic'
  return new ModelError('missing_key', `No ${name} API key: set ${provider.toUpperCase()}_API_KEY${other}`)
}

/** How a provider's failures are worded. */
export interface ProviderWords {
  /** `Ollama at http://127.0.0.1:11434` */
  who: string
  /** What to do about a failure, if that is known. */
  advice: Partial<Record<ModelErrorCode, string>>
}

const NO_CONNECTION =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|ETIMEDOUT|_(CONNECT|HEADERS)_TIMEOUT|fetch failed|connection error/i
const BROKEN = /terminated|UND_ERR_SOCKET|_BODY_TIMEOUT|ECONNRESET|EPIPE|premature|did not receive done/i

/** By "HTTP <status>", or by codes and messages of the error and its causes. The first that fits. */
const FAILURES: readonly [code: ModelErrorCode, says: string, sign: RegExp][] = [
  ['unauthorized', 'rejected the key', /^HTTP 40[13]$/m],
  ['no_tools', 'cannot use tools with this model', /does not support tools/i],
  ['model_not_found', 'does not have the model', /^HTTP 404$/m],
  ['rate_limited', 'is rate limiting requests', /^HTTP 429$/m],
  ['overloaded', 'is overloaded', /^HTTP 5[02][39]$|overloaded_error/m],
  ['server_error', 'failed', /^HTTP [5-9]/m],
  ['rejected', 'rejected the request', /^HTTP 4/m],
  ['unreachable', 'cannot be reached', NO_CONNECTION],
  ['truncated', 'broke off in the middle of its answer', BROKEN],
  ['invalid_response', 'sent a response that could not be read', /^/],
]

/** The fields that an error from the system, a provider or its library may have. */
type Cause = { [Field in 'code' | 'type' | 'message' | 'status' | 'headers' | 'cause']?: unknown }

/** Any failure of a request as a ModelError: `<who> <what happened>: <its own words>. <advice>`. */
export function explainFailure(error: unknown, { who, advice }: ProviderWords): ModelError {
  const causes: Cause[] = []
  for (let cause = error; isObjectLike(cause) && causes.length < 10; cause = (cause as Cause).cause)
    causes.push(cause)
  const texts = causes.map(cause => `${cause.code} ${cause.type} ${cause.message}`)
  const signs = [`HTTP ${Number(causes[0]?.status) || ''}`, ...texts].join('\n')
  const [code, says] = FAILURES.find(([, , sign]) => sign.test(signs)) as (typeof FAILURES)[number]
  // The innermost cause says the most: `connect ECONNREFUSED 127.0.0.1:11434`, not `fetch failed`.
  const words = causes.map(({ message }) => plainMessage(String(message ?? ''))).filter(Boolean)
  const own = safeText(words.at(-1) ?? String(error)).replace(/[.\s]+$/, '')
  const tip = advice[code] ? `. ${advice[code]}` : ''
  // Only a system error is kept: one from a provider's library may hold the request, and with it the key.
  const system = causes.find(one => typeof one.code === 'string' && one.message !== undefined)
  return new ModelError(code, `${who} ${says}: ${own}${tip}`, {
    retryAfterMs: retryAfterOf(causes[0]?.headers),
    ...(system && { cause: system }),
  })
}

/** The provider's own message from an error body, without LangChain's link. */
function plainMessage(message: string): string {
  const plain = message.split('\n\nTroubleshooting URL:')[0]?.trim() ?? ''
  try {
    const { error } = JSON.parse(plain.slice(plain.indexOf('{')))
    const inner: unknown = error?.message ?? error
    return typeof inner === 'string' ? inner : plain
  } catch {
    return plain
  }
}

/** `retry-after` in seconds or as a date. */
function retryAfterOf(headers: unknown): number | undefined {
  const value = headers instanceof Headers ? headers.get('retry-after')?.trim() : undefined
  if (!value) return undefined
  const delayMs = /^[\d.]+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs)
}
