import type { Diagnosis } from '../call/tool-result.ts'
import { withoutKnownSecrets } from '../logging/redact.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { isObjectLike } from '../util/guards.ts'
import { Failure, invalidArguments, toolError, unavailable, unexpected } from './failure.ts'

const CONNECTION_CODES =
  /^(?:ECONNREFUSED|ENOTFOUND|ETIMEDOUT|ECONNRESET|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_(?:CONNECT_TIMEOUT|SOCKET))$/
/** HTTP: bad gateway, service unavailable, gateway timeout. */
const GONE: readonly unknown[] = [502, 503, 504]
const MAX_CAUSES = 6
const MISSING_CAPABILITY = -32_021

/** What a thrown value means for the call: `unavailable` for an unreachable service, otherwise `tool_error`. */
export function classifyError(error: unknown, tool: Tool): Failure {
  try {
    return classify(error, tool)
  } catch (thrown) {
    // It throws when it is read.
    return unexpected(thrown)
  }
}

function classify(error: unknown, tool: Tool): Failure {
  if (error instanceof ToolFailureError)
    return new Failure(error.code, error.message, error.diagnosis, error.retryAfterMs)
  const chain = causesOf(error)
  const texts = (errors: readonly unknown[]) => errors.map(each => messageOf(each, tool))
  const gone = chain.find(isConnectionError)
  if (gone !== undefined) return unavailable(tool.name, messageOf(gone, tool), { causes: texts(chain) })
  const { rpcCode, data } = (error ?? {}) as { rpcCode?: unknown; data?: unknown }
  // LangChain's own check of the arguments knows more than a JSON Schema can express.
  if (error?.constructor?.name === 'ToolInputParsingException')
    return invalidArguments([parsingProblem(error as Error)], tool, jsonSchemaOf(tool))
  const diagnosis: Diagnosis = {}
  if (chain.length > 1) diagnosis.causes = texts(chain.slice(1))
  // For clients whose protocol has that error too.
  if (rpcCode === MISSING_CAPABILITY) diagnosis.details = { rpc: { code: rpcCode, data } }
  const message = withoutAdapterPrefix(messageOf(error, tool), tool)
  return toolError(message, Object.keys(diagnosis).length > 0 ? diagnosis : undefined)
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
  if (typeof code === 'string' && CONNECTION_CODES.test(code)) return true
  const answered = (response as { status?: unknown } | undefined)?.status
  return [status, statusCode, status_code, answered].some(value => GONE.includes(value))
}

function messageOf(error: unknown, tool: Tool): string {
  // A server's own key must not reach a model through an error message of that server.
  const text = withoutKnownSecrets(rawMessage(error))
  if (text.trim() !== '') return text
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  const kind = [code, name].find(one => typeof one === 'string')
  return `Tool '${tool.name}' failed without a message${kind ? ` (${kind})` : ''}`
}

function rawMessage(error: unknown): string {
  if (typeof error === 'string') return error
  if (!isObjectLike(error)) return error === undefined ? '' : `Tool threw ${String(error)}`
  try {
    const { message } = error as { message?: unknown }
    if (typeof message === 'string' && message !== '') return message
    return error instanceof Error ? '' : (JSON.stringify(error) ?? '')
  } catch {
    return ''
  }
}

function parsingProblem({ message }: Error): string {
  const lines = message.split('\n').slice(1)
  const details = lines.map(line => line.replace(/^[\s✖→]+/, '').trim()).filter(line => line !== '')
  return details.join(' ') || message
}

/** `@langchain/mcp-adapters` prefixes the server's message. */
function withoutAdapterPrefix(message: string, tool: Tool): string {
  if (tool.responseFormat !== 'content_and_artifact') return message
  return message.replace(/^MCP tool '[^']*' on server '[^']*' returned an error: (?=.*\S)/s, '')
}
