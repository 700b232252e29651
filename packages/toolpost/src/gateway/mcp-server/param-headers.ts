import { headerParameters } from '../../mcp/header-parameters.ts'
import type { Params } from '../../mcp/peer.ts'
import type { Tool } from '../../tools/tool.ts'
import { valueAt } from '../../util/guards.ts'
import { inputSchemaOf } from '../tool-info.ts'

/** Which parameter of a method the header `Mcp-Name` mirrors. */
const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

const known = new WeakMap<Tool, ReturnType<typeof headerParameters>['parameters']>()

/**
 * Why the headers that mirror parts of a request of the newest protocol disagree with them: a proxy may have decided by
 * the headers. The classification has compared version and method if they are there.
 */
export function headerMismatch(
  headerOf: (name: string) => string | undefined,
  method: string,
  params: Params,
  tool: Tool | undefined,
) {
  for (const name of ['MCP-Protocol-Version', 'Mcp-Method'])
    if (headerOf(name.toLowerCase()) === undefined) return mismatch(name, 'is missing')
  const parameter = NAMES[method] ?? ''
  const problem = problemOf(headerOf('mcp-name'), params[parameter], 'string')
  if (problem) return mismatch('Mcp-Name', `${problem} params.${parameter}`)
  const parameters = tool && (known.get(tool) ?? headerParameters(inputSchemaOf(tool)).parameters)
  if (tool && parameters) known.set(tool, parameters)
  for (const { header, path, type } of parameters ?? []) {
    const name = `Mcp-Param-${header}`
    const wrong = problemOf(headerOf(name.toLowerCase()), valueAt(params.arguments, path), type)
    if (wrong) return mismatch(name, `${wrong} ${path.join('.')}`)
  }
  return undefined
}

function mismatch(header: string, problem: string) {
  const body = `${header} ${problem}`
  const message = `Bad Request: the request headers and body disagree: ${body}`
  return { code: -32_020, message, data: { mismatch: { header, body } } }
}

/** What is wrong with a header; the argument's name follows. Headers carry text, truth values and exact numbers. */
function problemOf(header: string | undefined, value: unknown, type: string): string | undefined {
  const isExact = typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
  if (typeof value !== 'string' && typeof value !== 'boolean' && !isExact) return undefined
  if (header === undefined) return 'is missing and the body has'
  if (header === value) return undefined
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1]
  const decoded = encoded === undefined ? header : Buffer.from(encoded, 'base64').toString()
  if (encoded !== undefined && Buffer.from(decoded).toString('base64') !== encoded)
    return 'is not valid Base64 of'
  const isNumber = type !== 'string' && typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(decoded)
  return (isNumber ? Number(decoded) === value : decoded === String(value)) ? undefined : 'differs from'
}
