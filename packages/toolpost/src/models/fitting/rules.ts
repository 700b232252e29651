import { isRecord } from '../../runtime/guards.ts'

/** A provider with its own rules for tool schemas; `openai` stands for every compatible API. */
export type FittingProvider = 'anthropic' | 'ollama' | 'openai'

/** Something a provider does not accept, and what was done about it. */
export interface SchemaChange {
  /** A JSON pointer into the original: `#/properties/when`. */
  readonly place: string
  readonly keyword: string
  readonly change: string
}

/** Where the rules come from: docs/decisions/2026-11-16-fitted-schemas.md. */
interface Rules {
  /** Keywords beyond those that every provider accepts. */
  readonly keywords: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  /** The pattern for argument names. */
  readonly argumentName?: RegExp
  /** `type` cannot be a list. */
  readonly oneType?: true
}

const FORMATS = 'date-time date time duration email hostname ipv4 ipv6 uuid'

/** Accepted by some providers. */
export const EXTRAS = setOf('uniqueItems minProperties maxProperties examples')

export const RULES: Readonly<Record<FittingProvider, Rules>> = {
  anthropic: {
    keywords: EXTRAS,
    formats: setOf(`${FORMATS} uri`),
    argumentName: /^[a-zA-Z0-9_.-]{1,64}$/,
  },
  ollama: { keywords: EXTRAS, formats: setOf(`${FORMATS} uri`), oneType: true },
  openai: { keywords: new Set(), formats: setOf(FORMATS) },
}

/** A tool name that every provider accepts. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** They neither constrain values nor tell a model anything. */
export const SILENT = setOf(
  '$schema $id id $anchor $comment $defs definitions $vocabulary $dynamicAnchor $recursiveAnchor readOnly writeOnly deprecated contentEncoding contentMediaType contentSchema',
)

/** Handled by dedicated functions. */
export const ELSEWHERE = setOf(
  'type enum const nullable format properties required additionalProperties items prefixItems additionalItems $ref $dynamicRef $recursiveRef allOf anyOf oneOf',
)

export const TYPES = setOf('string number integer boolean object array null')

/** Keywords that are copied unchanged, if their value is valid in 2020-12. */
export const COPIED: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: isText,
  description: isText,
  default: () => true,
  examples: Array.isArray,
  minimum: Number.isFinite,
  maximum: Number.isFinite,
  exclusiveMinimum: Number.isFinite,
  exclusiveMaximum: Number.isFinite,
  multipleOf: value => Number.isFinite(value) && (value as number) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: value => typeof value === 'boolean',
  minProperties: isCount,
  maxProperties: isCount,
  pattern: value => isText(value) && isPlainPattern(value),
}

/** The type of value a keyword applies to; all others apply to any. */
export const ABOUT: Readonly<Record<string, string>> = {
  ...about('number', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...about('string', 'minLength maxLength pattern format'),
  ...about('array', 'minItems maxItems uniqueItems items'),
  ...about('object', 'minProperties maxProperties properties required additionalProperties'),
}

/** A JSON Schema type; whole numbers are `integer`. */
function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  return isRecord(value) ? 'object' : typeof value
}

export function isOfType(value: unknown, type: string): boolean {
  const own = typeOf(value)
  return own === type || (own === 'integer' && type === 'number')
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

function about(type: string, keywords: string): Record<string, string> {
  return Object.fromEntries(keywords.split(' ').map(keyword => [keyword, type]))
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

/** Servers compile patterns to automata, which support neither look-around nor back-references. */
function isPlainPattern(pattern: string): boolean {
  if (/\(\?[=!<]|\\[1-9k]/.test(pattern)) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
