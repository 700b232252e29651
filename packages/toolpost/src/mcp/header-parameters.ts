import type { JsonSchema } from '../schema/json-schema.ts'
import { isObjectLike, isRecord, valueAt } from '../util/guards.ts'

/*
 * `x-mcp-header` (SEP-2243): arguments that are also sent in a header `Mcp-Param-…`, so that intermediaries between a
 * client and a server need not read the body. The rules are those of the SDK, which does not export them.
 */

/** An argument that is also sent in a header. */
export interface HeaderParameter {
  /** From the top of the arguments down to its value. */
  path: readonly string[]
  /** The header's name after `Mcp-Param-`. */
  header: string
  type: string
}

export interface HeaderParameters {
  parameters: readonly HeaderParameter[]
  /** Why clients cannot use a tool with this schema over HTTP. */
  problem?: string | undefined
}

const KEY = 'x-mcp-header'
const MAX_DEPTH = 64
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = ['string', 'integer', 'boolean']
const known = new WeakMap<JsonSchema, HeaderParameters>()

/** The arguments that are also sent in headers. Only properties of objects have a certain place in the arguments. */
export function headerParameters(schema: JsonSchema): HeaderParameters {
  const cached = known.get(schema)
  if (cached) return cached
  const parameters: HeaderParameter[] = []
  let problem: string | undefined
  visit(schema, [], true)
  // A server still compares the header of a number, which clients must not send.
  const found = { parameters: problem?.includes('got number') || !problem ? parameters : [], problem }
  known.set(schema, found)
  return found

  function visit(value: unknown, path: readonly string[], isReachable: boolean): void {
    if (!isObjectLike(value) || path.length > MAX_DEPTH) return
    const inner = value as JsonSchema
    if (Object.hasOwn(inner, KEY) && !Array.isArray(value)) {
      const wrong = problemAt(inner, path, isReachable)
      problem ??= wrong
      if (!wrong || inner.type === 'number')
        parameters.push({ path, header: String(inner[KEY]), type: String(inner.type) })
    }
    const properties = isReachable && isRecord(inner.properties) ? inner.properties : {}
    for (const [key, below] of Object.entries(properties)) visit(below, [...path, key], true)
    for (const [key, below] of Object.entries(inner))
      if (
        below !== properties &&
        key !== 'default' &&
        key !== 'examples' &&
        key !== 'const' &&
        key !== 'enum'
      )
        visit(below, [...path, `<${key}>`], false)
  }

  function problemAt({ [KEY]: header, type }: JsonSchema, path: readonly string[], isReachable: boolean) {
    const name = path.join('.') || 'the schema itself'
    if (!isReachable || path.length === 0)
      return `${name}: ${KEY} is only permitted on properties and nested properties`
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${name}: ${KEY} is not a valid header name`
    if (parameters.some(each => each.header.toLowerCase() === header.toLowerCase()))
      return `${name}: ${KEY} '${header}' is already used by another property`
    if (TYPES.includes(type as string)) return undefined
    return `${name}: ${KEY} needs a type of ${TYPES.join(', ')}; got ${typeof type === 'string' ? type : 'none'}`
  }
}

/** The headers of a call, for arguments that are also sent in headers. */
export function paramHeaders(schema: JsonSchema, args: object): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { path, header } of headerParameters(schema).parameters) {
    const value = valueAt(args, path)
    const isSent = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value)
    if (isSent && isExact) headers[`Mcp-Param-${header}`] = headerValue(String(value))
  }
  return headers
}

/** Text that HTTP would reject or change is encoded. */
function headerValue(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
