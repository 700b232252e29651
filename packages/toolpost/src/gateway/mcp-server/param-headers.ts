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
  for (const header of ['MCP-Protocol-Version', 'Mcp-Method'])
    if (headerOf(c, header.toLowerCase()) === undefined) return mismatch(header, `${header} is missing`)
  const parameter = Object.hasOwn(NAMES, method) ? (NAMES[method] ?? '') : ''
  const mirrored = [
    { header: 'Mcp-Name', name: `params.${parameter}`, value: params[parameter], type: 'string' },
    ...(tool ? parametersOf(tool) : []).map(({ header, path, type }) => ({
      header: `Mcp-Param-${header}`,
      name: path.join('.'),
      value: valueAt(params.arguments, path),
      type,
    })),
  ]
  for (const { header, name, value, type } of mirrored) {
    const problem = problemOf(headerOf(c, header.toLowerCase()), value, type)
    if (problem) return mismatch(header, `${header} ${problem} ${name}`)
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
