import type { Diagnosis } from '../call/tool-result.ts'
import { withoutKnownSecrets } from '../logging/redact.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { Failure, invalidArguments, toolError, unavailable } from './failure.ts'

const CONNECTION_CODES = new Set(
  `ECONNREFUSED ENOTFOUND ETIMEDOUT ECONNRESET EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT
  UND_ERR_SOCKET`.split(/\s+/),
)

/** HTTP: bad gateway, service unavailable, gateway timeout. */
const GONE = new Set<unknown>([502, 503, 504])
const MAX_CAUSES = 6
const MISSING_CAPABILITY = -32_021

/** What a thrown value means for the call: `unavailable` for an unreachable service, otherwise `tool_error`. */
export function classifyError(error: unknown, tool: Tool): Failure {
  try {
    return classify(error, tool)
  } catch (thrown) {
    // It throws when it is read.
    return toolError(`The call failed unexpectedly: ${describeThrown(thrown)}`)
  }
}

function classify(error: unknown, tool: Tool): Failure {
  if (error instanceof ToolFailureError)
    return new Failure(error.code, error.message, error.diagnosis, error.retryAfterMs)
  const chain = causes(error)
  const gone = chain.find(isConnectionError)
  if (gone !== undefined) return unavailable(tool.name, messageOf(gone, tool), causesOf(chain, tool))
  // LangChain's own check of the arguments knows more than a JSON Schema can express.
  if (isObjectLike(error) && error.constructor?.name === 'ToolInputParsingException')
    return invalidArguments([parsingProblem(error as Error)], tool, jsonSchemaOf(tool))
  const diagnosis = { ...causesOf(chain.slice(1), tool), ...rpcDetails(error) }
  const message = withoutAdapterPrefix(messageOf(error, tool), tool)
  return toolError(message, Object.keys(diagnosis).length > 0 ? diagnosis : undefined)
}

/** A server's JSON-RPC error "missing required client capability", for clients whose protocol has it too. */
function rpcDetails(error: unknown): Diagnosis | undefined {
  const { rpcCode: code, data } = (isObjectLike(error) ? error : {}) as { rpcCode?: unknown; data?: unknown }
  return code === MISSING_CAPABILITY ? { details: { rpc: { code, data } } } : undefined
}

/** The error and its causes, outermost first, including the parts of an AggregateError. */
function causes(error: unknown): unknown[] {
  const chain = new Set([error])
  // Causes added during the loop are visited too.
  for (const each of chain) {
    if (!isObjectLike(each)) continue
    const { cause, errors } = each as { cause?: unknown; errors?: unknown }
    for (const inner of [cause, ...(Array.isArray(errors) ? errors : [])])
      if (inner !== undefined && chain.size < MAX_CAUSES) chain.add(inner)
  }
  return [...chain]
}

function isConnectionError(error: unknown): boolean {
  if (!isObjectLike(error)) return false
  const { code, status, statusCode, status_code, response } = error as Record<string, unknown>
  if (typeof code === 'string' && CONNECTION_CODES.has(code)) return true
  const answered = isObjectLike(response) && (response as { status?: unknown }).status
  return [status, statusCode, status_code, answered].some(value => GONE.has(value))
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

function causesOf(chain: readonly unknown[], tool: Tool): { causes: string[] } | undefined {
  return chain.length > 0 ? { causes: chain.map(error => messageOf(error, tool)) } : undefined
}

function parsingProblem({ message }: Error): string {
  const lines = message.split('\n').slice(1)
  const details = lines.map(line => line.replace(/^[\s✖→]+/, '').trim()).filter(line => line !== '')
  return details.join(' ') || message
}

/** `@langchain/mcp-adapters` prefixes the server's message. */
function withoutAdapterPrefix(message: string, tool: Tool): string {
  if (tool.responseFormat !== 'content_and_artifact') return message
  const text = message.replace(/^MCP tool '[^']*' on server '[^']*' returned an error: /, '')
  return text.trim() === '' ? message : text
}
