import { type HeaderParameter, headerParameters } from '../../mcp/header-parameters.ts'
import type { Tool } from '../../tools/tool.ts'
import { valueAt } from '../../util/guards.ts'
import { headerOf, type RequestContext } from '../http.ts'
import { inputSchemaOf } from '../tool-info.ts'
import type { Params } from './protocol.ts'

const HEADER_MISMATCH = -32_020
const ENCODED = /^=\?base64\?(.*)\?=$/s
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DECIMAL = /^-?\d+(\.\d+)?$/

/** Which parameter of a method the header `Mcp-Name` mirrors. */
const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * Why the headers that every request of the newest protocol needs disagree with its body: a proxy may have decided by the
 * headers. The classification has compared version and method if they are there.
 */
export function headerMismatch(c: RequestContext, method: string, params: Params) {
  for (const header of ['MCP-Protocol-Version', 'Mcp-Method'])
    if (headerOf(c, header.toLowerCase()) === undefined) return mismatch(header, `${header} is missing`)
  const parameter = Object.hasOwn(NAMES, method) ? (NAMES[method] ?? '') : undefined
  if (parameter === undefined || typeof params[parameter] !== 'string') return undefined
  const problem = problemOf(headerOf(c, 'mcp-name'), params[parameter], 'string')
  return problem && mismatch('Mcp-Name', `Mcp-Name ${problem} params.${parameter}`)
}

const known = new WeakMap<Tool, readonly HeaderParameter[]>()

/** Why headers that mirror arguments of a tool disagree with the arguments. */
export function paramMismatch(c: RequestContext, params: Params, tool: Tool | undefined) {
  if (!tool) return undefined
  const parameters = known.get(tool) ?? headerParameters(inputSchemaOf(tool)).parameters
  known.set(tool, parameters)
  for (const { header: name, path, type } of parameters) {
    const header = `Mcp-Param-${name}`
    const problem = problemOf(headerOf(c, header.toLowerCase()), valueAt(params.arguments, path), type)
    if (problem) return mismatch(header, `${header} ${problem} ${path.join('.')}`)
  }
  return undefined
}

function mismatch(header: string, body: string) {
  const message = `Bad Request: the request headers and body disagree: ${body}`
  return { code: HEADER_MISMATCH, message, data: { mismatch: { header, body } } }
}

/** What is wrong with a header; the argument's name follows. */
function problemOf(header: string | undefined, value: unknown, type: string): string | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  if (header === undefined) return 'is missing and the body has'
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
