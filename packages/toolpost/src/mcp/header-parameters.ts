import { isObjectLike, isRecord, valueAt } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

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

interface Place {
  schema: unknown
  key: string
  parent: Place | undefined
  /** Whether its place in the arguments is certain. */
  isReachable: boolean
}

const KEY = 'x-mcp-header'
const MAX_PLACES = 50_000
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = ['string', 'integer', 'boolean']
const ELSEWHERE = (
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames ' +
  'patternProperties dependentSchemas oneOf anyOf allOf not if then else $defs definitions'
).split(' ')
const NAMED = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** The arguments that are also sent in headers. */
export function headerParameters(schema: JsonSchema): HeaderParameters {
  const found: HeaderParameter[] = []
  const taken = new Set<string>()
  const waiting: Place[] = [{ schema, key: '', parent: undefined, isReachable: true }]
  let problem: string | undefined
  let places = 0
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    if (++places > MAX_PLACES) return { parameters: [], problem: 'its schema is too large' }
    if (!isRecord(place.schema)) continue
    if (KEY in place.schema) {
      const read = readParameter(place, place.schema, taken)
      if (typeof read === 'string') return { parameters: [], problem: read }
      // A server still compares its header.
      if (read.type === 'number') problem ??= problemOfType(read.path, read.type)
      found.push(read)
    }
    waiting.push(...placesBelow(place, place.schema).reverse())
  }
  return { parameters: found, problem }
}

const cached = new WeakMap<JsonSchema, HeaderParameters>()

/** The headers of a call, for arguments that are also sent in headers. */
export function paramHeaders(schema: JsonSchema, args: object): Record<string, string> {
  const headers: Record<string, string> = {}
  const known = cached.get(schema) ?? headerParameters(schema)
  cached.set(schema, known)
  for (const { path, header } of known.parameters) {
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

function readParameter(
  place: Place,
  { [KEY]: header, type }: JsonSchema,
  taken: Set<string>,
): HeaderParameter | string {
  const path = pathOf(place)
  const name = path.join('.') || 'the schema itself'
  if (!place.isReachable || path.length === 0)
    return `${name}: ${KEY} is only permitted on properties and nested properties`
  if (typeof header !== 'string' || !TOKEN.test(header)) return `${name}: ${KEY} is not a valid header name`
  if (type !== 'number' && !TYPES.includes(type as string)) return problemOfType(path, type)
  if (taken.has(header.toLowerCase()))
    return `${name}: ${KEY} '${header}' is already used by another property`
  taken.add(header.toLowerCase())
  return { path, header, type: type as string }
}

function problemOfType(path: readonly string[], type: unknown): string {
  const given = typeof type === 'string' ? type : 'none'
  return `${path.join('.')}: ${KEY} needs a type of ${TYPES.join(', ')}; got ${given}`
}

function pathOf(place: Place): string[] {
  const path: string[] = []
  for (let at: Place | undefined = place; at?.parent; at = at.parent) path.push(at.key)
  return path.reverse()
}

function placesBelow(parent: Place, schema: JsonSchema): Place[] {
  const { isReachable } = parent
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : []
  return [
    ...properties.map(([key, below]) => ({ schema: below, key, parent, isReachable })),
    ...ELSEWHERE.filter(key => isObjectLike(schema[key])).flatMap(key =>
      branchesOf(schema[key] as object, NAMED.has(key)).map(below => ({
        schema: below,
        key: `<${key}>`,
        parent,
        isReachable: false,
      })),
    ),
  ]
}

function branchesOf(value: object, isNamed: boolean): unknown[] {
  if (Array.isArray(value)) return value
  return isNamed ? Object.values(value) : [value]
}
