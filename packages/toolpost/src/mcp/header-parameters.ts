import type { JsonSchema } from '../schema/json-schema.ts'
import { isObjectLike, isRecord, valueAt } from '../util/guards.ts'

/*
 * `x-mcp-header` (SEP-2243): arguments that are also sent in a header `Mcp-Param-…`, so that intermediaries between a
 * client and a server need not read the body. The rules are those of the SDK, which does not export them.
 */

interface HeaderParameter {
  /** From the top of the arguments down to its value. */
  path: readonly string[]
  /** The header's name after `Mcp-Param-`. */
  header: string
  type: string
}

const KEY = 'x-mcp-header'
const MAX_DEPTH = 64
const TYPES = ['string', 'integer', 'boolean']
/** Keywords whose value is no schema. */
const VALUES = ['default', 'examples', 'const', 'enum']

/**
 * The arguments that are also sent in headers, and why clients cannot use a tool with this schema over HTTP. Only properties
 * of objects have a certain place in the arguments.
 */
export function headerParameters(schema: JsonSchema) {
  const parameters: HeaderParameter[] = []
  let problem: string | undefined
  const problemOf = (header: string, type: unknown, isPlaced: boolean) => {
    if (!isPlaced) return 'is only permitted on properties and nested properties'
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header)) return 'is not a valid header name'
    const isTaken = parameters.some(each => each.header.toLowerCase() === header.toLowerCase())
    if (isTaken) return `'${header}' is already used by another property`
    return TYPES.includes(type as string) ? undefined : `needs a type of ${TYPES.join(', ')}; got ${type}`
  }
  const visit = (value: unknown, path: readonly string[], isReachable: boolean): void => {
    if (!isObjectLike(value) || path.length > MAX_DEPTH) return
    const { [KEY]: header, type, properties } = value as JsonSchema
    if (header !== undefined && !Array.isArray(value)) {
      const wrong = problemOf(typeof header === 'string' ? header : '', type, isReachable && path.length > 0)
      if (wrong) problem ??= `${path.join('.') || 'the schema itself'}: ${KEY} ${wrong}`
      // A server still compares the header of a number, which clients must not send.
      if (!wrong || type === 'number') parameters.push({ path, header: String(header), type: String(type) })
    }
    for (const [key, below] of Object.entries(value))
      if (isReachable && key === 'properties' && isRecord(properties))
        for (const [name, inner] of Object.entries(properties)) visit(inner, [...path, name], true)
      else if (!VALUES.includes(key)) visit(below, [...path, `<${key}>`], false)
  }
  visit(schema, [], true)
  return { parameters: !problem || problem.includes('got number') ? parameters : [], problem }
}

/** The headers of a call. Text that HTTP would reject or change is encoded. */
export function paramHeaders(schema: JsonSchema, args: object): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { path, header } of headerParameters(schema).parameters) {
    const value = valueAt(args, path)
    const isNumber = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))
    if (typeof value !== 'string' && typeof value !== 'boolean' && !isNumber) continue
    const text = String(value)
    const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text)
    headers[`Mcp-Param-${header}`] = isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
  }
  return headers
}
