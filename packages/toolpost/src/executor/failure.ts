import type { FailureCode } from '../call/failure-codes.ts'
import type { Diagnosis } from '../call/tool-result.ts'
import { withoutKnownSecrets } from '../logging/redact.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { requiredArguments, signatureOf } from '../schema/signature.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { isObjectLike } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import { shortText } from '../util/text.ts'

/** Why a stage stopped a call. Passed on as a value; no stage throws. */
export interface Failure {
  readonly code: FailureCode
  readonly error: string
  readonly diagnosis?: Diagnosis | undefined
  /** When to retry, if known. */
  readonly retryAfterMs?: number | undefined
}

export function invalidArguments(problems: readonly string[], tool: Tool): Failure {
  const required = requiredArguments(jsonSchemaOf(tool))
  const diagnosis = { ...(required !== '' && { required }), signature: signatureOf(tool) }
  return { code: 'invalid_arguments', error: `Invalid parameters: ${problems.join('; ')}`, diagnosis }
}

/** Shortened, because the reason may quote the schema. */
export function invalidSchema(name: string, reason: string): Failure {
  const why = shortText(reason, MAX_REASON_CHARS)
  return { code: 'invalid_schema', error: `Tool '${name}' has an unusable schema: ${why}` }
}

export function cancelled(name: string): Failure {
  return { code: 'cancelled', error: `Tool '${name}' was cancelled` }
}

export function unavailable(name: string, cause: string, diagnosis?: Diagnosis): Failure {
  return { code: 'unavailable', error: `The ${name} service is unavailable: ${cause}`, diagnosis }
}

export function toolError(error: string, diagnosis?: Diagnosis): Failure {
  return { code: 'tool_error', error, diagnosis }
}

/** For values that throw when they are read. */
export const unexpected = (error: unknown) =>
  toolError(`The call failed unexpectedly: ${describeThrown(error)}`)

const CONNECTION_CODES =
  /^(?:ECONNREFUSED|ENOTFOUND|ETIMEDOUT|ECONNRESET|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_(?:CONNECT_TIMEOUT|SOCKET))$/
/** HTTP: bad gateway, service unavailable, gateway timeout. */
const GONE: readonly unknown[] = [502, 503, 504]
const MAX_CAUSES = 6
const MAX_REASON_CHARS = 500
const MISSING_CAPABILITY = -32_021
/** `@langchain/mcp-adapters` prefixes the server's message. */
const ADAPTER_PREFIX = /^MCP tool '[^']*' on server '[^']*' returned an error: (?=.*\S)/s

/** What a thrown value means for the call: `unavailable` for an unreachable service, otherwise `tool_error`. */
export function classifyError(error: unknown, tool: Tool): Failure {
  try {
    return classify(error, tool)
  } catch (thrown) {
    return unexpected(thrown)
  }
}

function classify(error: unknown, tool: Tool): Failure {
  if (error instanceof ToolFailureError) {
    const { code, message, diagnosis, retryAfterMs } = error
    return { code, error: message, diagnosis, retryAfterMs }
  }
  const chain = causesOf(error)
  const causes = chain.map(each => messageOf(each, tool))
  const gone = chain.findIndex(isConnectionError)
  if (gone >= 0) return unavailable(tool.name, causes[gone] ?? '', { causes })
  const [message = '', ...inner] = causes
  // LangChain's own check of the arguments knows more than a JSON Schema can express.
  if (error?.constructor?.name === 'ToolInputParsingException') {
    const details = message.split('\n').slice(1)
    const problem = details.map(line => line.replace(/^[\s✖→]+/, '').trim()).filter(Boolean)
    return invalidArguments([problem.join(' ') || message], tool)
  }
  const { rpcCode, data } = (error ?? {}) as { rpcCode?: unknown; data?: unknown }
  const diagnosis: Diagnosis = {}
  if (inner.length > 0) diagnosis.causes = inner
  // For clients whose protocol has that error too.
  if (rpcCode === MISSING_CAPABILITY) diagnosis.details = { rpc: { code: rpcCode, data } }
  const isAdapted = tool.responseFormat === 'content_and_artifact'
  const own = isAdapted ? message.replace(ADAPTER_PREFIX, '') : message
  return toolError(own, Object.keys(diagnosis).length > 0 ? diagnosis : undefined)
}

/** The error and its causes, outermost first, including the parts of an AggregateError. */
function causesOf(error: unknown): unknown[] {
  const chain = new Set([error])
  // Causes added during the loop are visited too.
  for (const each of chain) {
    const { cause, errors } = (each ?? {}) as { cause?: unknown; errors?: unknown }
    for (const inner of [cause, ...(Array.isArray(errors) ? errors : [])])
      if (inner !== undefined && chain.size < MAX_CAUSES) chain.add(inner)
  }
  return [...chain]
}

function isConnectionError(error: unknown): boolean {
  const { code, status, statusCode, status_code, response } = (error ?? {}) as Record<string, unknown>
  const answered = (response as { status?: unknown } | undefined)?.status
  const isGone = [status, statusCode, status_code, answered].some(value => GONE.includes(value))
  return isGone || (typeof code === 'string' && CONNECTION_CODES.test(code))
}

/** Without the keys of a server, which must not reach a model through an error message of that server. */
function messageOf(error: unknown, { name: tool }: Tool): string {
  const { code, name, message } = (error ?? {}) as { code?: unknown; name?: unknown; message?: unknown }
  const said = typeof error === 'string' ? error : message
  if (typeof said === 'string' && said.trim() !== '') return withoutKnownSecrets(said)
  if (error !== undefined && typeof error !== 'string' && !(error instanceof Error))
    return isObjectLike(error) ? withoutKnownSecrets(JSON.stringify(error)) : `Tool threw ${String(error)}`
  const kind = [code, name].find(one => typeof one === 'string')
  return `Tool '${tool}' failed without a message${kind ? ` (${kind})` : ''}`
}
