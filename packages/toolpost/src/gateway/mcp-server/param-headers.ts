import { type HeaderParameter, headerParameters } from '../../mcp/header-parameters.ts'
import type { Tool } from '../../tools/tool.ts'
import { valueAt } from '../../util/guards.ts'
import { headerOf, type RequestContext } from '../http.ts'
import { inputSchemaOf } from '../tool-info.ts'
import type { Params } from './protocol.ts'

const HEADER_MISMATCH = -32_020

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
 * Why the headers that mirror parts of a request of the newest protocol disagree with them: a proxy may have decided by
 * the headers. The classification has compared version and method if they are there.
 */
export function headerMismatch(c: RequestContext, method: string, params: Params, tool: Tool | undefined) {
  if (headerOf(c, 'mcp-protocol-version') === undefined)
    return mismatch('MCP-Protocol-Version', 'MCP-Protocol-Version is missing')
  if (headerOf(c, 'mcp-method') === undefined) return mismatch('Mcp-Method', 'Mcp-Method is missing')
  const parameter = Object.hasOwn(NAMES, method) ? (NAMES[method] ?? '') : ''
  const problem = problemOf(headerOf(c, 'mcp-name'), params[parameter], 'string')
  if (problem) return mismatch('Mcp-Name', `Mcp-Name ${problem} params.${parameter}`)
  for (const { header: name, path, type } of tool ? parametersOf(tool) : []) {
    const header = `Mcp-Param-${name}`
    const wrong = problemOf(headerOf(c, header.toLowerCase()), valueAt(params.arguments, path), type)
    if (wrong) return mismatch(header, `${header} ${wrong} ${path.join('.')}`)
  }
  return undefined
}

const known = new WeakMap<Tool, readonly HeaderParameter[]>()

function parametersOf(tool: Tool): readonly HeaderParameter[] {
  const parameters = known.get(tool) ?? headerParameters(inputSchemaOf(tool)).parameters
  known.set(tool, parameters)
  return parameters
}

function mismatch(header: string, body: string) {
  const message = `Bad Request: the request headers and body disagree: ${body}`
  return { code: HEADER_MISMATCH, message, data: { mismatch: { header, body } } }
}

/** What is wrong with a header; the argument's name follows. Headers carry text, truth values and exact numbers. */
function problemOf(header: string | undefined, value: unknown, type: string): string | undefined {
  const isExact = typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
  if (typeof value !== 'string' && typeof value !== 'boolean' && !isExact) return undefined
  if (header === undefined) return 'is missing and the body has'
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1]
  const decoded = encoded === undefined ? header : Buffer.from(encoded, 'base64').toString()
  if (encoded !== undefined && Buffer.from(decoded).toString('base64') !== encoded)
    return 'is not valid Base64 of'
  const isNumber = type !== 'string' && typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(decoded)
  return (isNumber ? Number(decoded) === value : decoded === String(value)) ? undefined : 'differs from'
}
