import { type HeaderParameter, headerParameters } from '../../mcp/header-parameters.ts'
import { isRecord, valueAt } from '../../runtime/guards.ts'
import type { Tool } from '../../tools/tool.ts'
import { json } from '../http/answers.ts'
import { inputSchemaOf } from '../tool-info.ts'

const HEADER_MISMATCH = -32_020
const ENCODED = /^=\?base64\?(.*)\?=$/s
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DECIMAL = /^-?\d+(\.\d+)?$/

const known = new WeakMap<Tool, readonly HeaderParameter[]>()

/**
 * Refuses a request whose headers that mirror arguments differ from the arguments: a proxy may have decided by the
 * headers. The SDK checks this only for its own servers.
 */
export function refusedParamHeaders(
  { headers }: Request,
  { id, params }: Readonly<Record<string, unknown>>,
  tool: Tool,
): Response | undefined {
  const parameters = known.get(tool) ?? headerParameters(inputSchemaOf(tool)).parameters
  known.set(tool, parameters)
  const args = isRecord(params) ? params.arguments : undefined
  for (const parameter of parameters) {
    const header = `Mcp-Param-${parameter.header}`
    const problem = problemOf(headers.get(header), valueAt(args, parameter.path), parameter.type)
    if (problem === undefined) continue
    const body = `${header} ${problem} ${parameter.path.join('.')}`
    const message = `Bad Request: the request headers and body disagree: ${body}`
    const error = { code: HEADER_MISMATCH, message, data: { mismatch: { header, body } } }
    const isId = typeof id === 'string' || typeof id === 'number'
    return json({ jsonrpc: '2.0', id: isId ? id : null, error }, 400)
  }
  return undefined
}

/** What is wrong with a header; the argument's name follows. */
function problemOf(header: string | null, value: unknown, type: string): string | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  if (header === null) return 'is missing and the body has'
  const decoded = decode(header)
  if (decoded === undefined) return 'is not valid Base64 of'
  const isNumber = (type === 'integer' || type === 'number') && typeof value === 'number'
  const isSame = isNumber && DECIMAL.test(decoded) ? Number(decoded) === value : decoded === text
  return isSame ? undefined : 'differs from'
}

/** A value as header text; `undefined` for one that headers do not carry. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined
  return String(value)
}

function decode(header: string): string | undefined {
  const encoded = ENCODED.exec(header)?.[1]
  if (encoded === undefined) return header
  if (!BASE64.test(encoded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}
