import { isRecord, ownValue } from '../util/guards.ts'
import { shortText } from '../util/text.ts'
import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf, resolveRef } from './json-schema.ts'

/** Types for people and models. `maxTypes`: how many may be spelled out; otherwise nested alternatives would multiply. */
const SHORT = { any: 'any', object: 'object', leftOut: '…', maxNesting: 3, maxTypes: 300 }
/** Types for the compiler: what cannot be expressed, or is too much, is `unknown`. */
export const CODE = {
  any: 'unknown',
  object: 'Record<string, unknown>',
  leftOut: 'unknown',
  maxNesting: 12,
  maxTypes: 2_000,
}
const MAX_CHOICES = 8
const MAX_PARAMETERS = 60
const MAX_LITERAL_CHARS = 100

/**
 * How to call a tool, as a person would write it: `turn(action: "on" | "off", level?: integer)`. Parts that are too long
 * or cannot be read become `…`; never throws.
 */
export function signatureOf(tool: { readonly name: string; readonly schema: object }): string {
  try {
    const schema = topOf(jsonSchemaOf(tool))
    const parameters = typeWriter(schema).propertyTypes(schema, 0)
    return `${tool.name}(${parameters === '' && schema.additionalProperties !== false ? '…' : parameters})`
  } catch {
    return `${tool.name}(…)`
  }
}

/** A tool's required arguments, as error messages list them: `a (string), x (one of on, off)`. */
export function requiredArguments(given: JsonSchema): string {
  const schema = topOf(given)
  const properties = propertiesOf(schema)
  const { typeOf } = typeWriter(schema)
  return listed(requiredOf(schema), name => {
    const property = resolveRef(ownValue(properties, name), schema)
    const choices = isRecord(property) && Array.isArray(property.enum) ? property.enum : undefined
    const kind = choices ? `one of ${listed(choices, plainText)}` : typeOf(property, SHORT.maxNesting)
    return `${plainText(name)} (${kind})`
  })
}

/** A type in TypeScript's notation: `string | { room: string }`. */
export function typeText(schema: JsonSchema, root: JsonSchema, style = SHORT): string {
  return typeWriter(root, style).typeOf(schema)
}

/** The schema itself, or its target if the entire schema is a reference into its own definitions. */
function topOf(schema: JsonSchema): JsonSchema {
  const top = resolveRef(schema, schema)
  return top === schema ? schema : { ...schema, ...(top as JsonSchema) }
}

/** Writes types in TypeScript's notation. */
function typeWriter(root: JsonSchema, style = SHORT) {
  const { any, object, leftOut, maxNesting } = style
  let typesLeft = style.maxTypes
  const atMost = (max: number) => (style === SHORT ? max : Number.POSITIVE_INFINITY)
  const maxChoices = atMost(MAX_CHOICES)
  const short = (text: string) => shortText(text, atMost(MAX_LITERAL_CHARS))
  const literal = (value: unknown) => short(JSON.stringify(value) ?? any)

  const typeOf = (given: unknown, nesting = 0): string => {
    if (typesLeft-- <= 0 || nesting > 2 * maxNesting) return leftOut
    const schema = resolveRef(given, root)
    if (!isRecord(schema)) return any
    const { enum: choices, const: constant, type, anyOf, oneOf = anyOf, allOf } = schema
    if (constant !== undefined) return literal(constant)
    if (Array.isArray(choices)) return union(choices, literal)
    const inner = (each: unknown) => typeOf(each, nesting + 1)
    // Alternatives next to properties narrow them.
    const parts = [union([...new Set([type].flat())], each => ownType(each, schema, nesting))]
    if (Array.isArray(oneOf)) parts.push(union(oneOf, inner))
    if (Array.isArray(allOf)) parts.push(...allOf.map(inner))
    const [first = parts[0] as string, ...more] = parts.filter(part => part !== any && part !== object)
    return more.length === 0 ? first : [first, ...more].map(inBrackets).join(' & ')
  }

  /** What a schema says by one of its types and their keywords. */
  const ownType = (type: unknown, schema: JsonSchema, nesting: number): string => {
    const { items, properties, additionalProperties: others } = schema
    if (type === 'array') return `${inBrackets(typeOf(items, nesting + 1))}[]`
    if (type === 'object' || (type === undefined && isRecord(properties))) {
      if (nesting >= maxNesting) return object
      const fields = propertyTypes(schema, nesting + 1)
      if (fields !== '') return `{ ${fields} }`
      if (others === false) return 'Record<string, never>'
      return isRecord(others) ? `Record<string, ${typeOf(others, nesting + 1)}>` : object
    }
    if (style === SHORT) return typeof type === 'string' ? short(type) : any
    // The compiler knows no integers.
    return type === 'integer' ? 'number' : (/^(string|number|boolean|null)$/.exec(String(type))?.[0] ?? any)
  }

  const propertyTypes = (schema: JsonSchema, nesting: number): string => {
    const [properties, required] = [propertiesOf(schema), new Set(requiredOf(schema))]
    const names = [...new Set([...Object.keys(properties), ...required])]
    const field = (name: string) => {
      const shown = /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)
      const isOptional = required.has(name) ? '' : '?'
      return `${short(shown)}${isOptional}: ${typeOf(ownValue(properties, name), nesting)}`
    }
    return listed(names, field, atMost(MAX_PARAMETERS))
  }

  const union = (parts: readonly unknown[], textOf: (part: unknown) => string): string => {
    const distinct = new Set<string>()
    for (const part of parts) if (distinct.size <= maxChoices) distinct.add(textOf(part))
    const shown = [...distinct].slice(0, maxChoices)
    if (distinct.size > maxChoices) shown.push(leftOut)
    return shown.join(' | ') || any
  }

  return { typeOf, propertyTypes }
}

const inBrackets = (type: string) => (/ [|&] /.test(type) ? `(${type})` : type)

/** As many as fit, and how many more there are. */
export function listed<T>(parts: readonly T[], textOf: (part: T) => string, max = MAX_PARAMETERS): string {
  const texts = parts.slice(0, max).map(textOf)
  if (parts.length > max) texts.push(`… ${parts.length - max} more`)
  return texts.join(', ')
}

/** A value as it is written in a message. */
export function plainText(value: unknown): string {
  return shortText(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'any'), MAX_LITERAL_CHARS)
}
