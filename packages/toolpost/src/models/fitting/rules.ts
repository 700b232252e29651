import { isRecord } from '../../runtime/guards.ts'

/** A provider with rules of its own about the schemas of tools; `openai` stands for all that speak its language. */
export type FittingProvider = 'anthropic' | 'ollama' | 'openai'

/** Something that a provider does not take, and what became of it. */
export interface SchemaChange {
  /** Where it stands in the original, as a JSON pointer: `#/properties/when`. */
  readonly place: string
  readonly keyword: string
  readonly change: string
}

/** Where the rules come from: docs/decisions/2026-11-16-fitted-schemas.md. */
interface Rules {
  /** Keywords beside those that everybody takes. */
  readonly keywords: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  /** What the names of arguments must look like. */
  readonly argumentName?: RegExp
  /** `type` must be one word. */
  readonly oneType?: true
}

const FORMATS = 'date-time date time duration email hostname ipv4 ipv6 uuid'

/** Taken by some. */
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

/** What every provider takes for the name of a tool. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** Say nothing about which values are valid, and nothing to a model. */
export const SILENT = setOf(
  '$schema $id id $anchor $comment $defs definitions $vocabulary $dynamicAnchor $recursiveAnchor readOnly writeOnly deprecated contentEncoding contentMediaType contentSchema',
)

/** Read by a function of their own. */
export const ELSEWHERE = setOf(
  'type enum const nullable format properties required additionalProperties items prefixItems additionalItems $ref $dynamicRef $recursiveRef allOf anyOf oneOf',
)

export const TYPES = setOf('string number integer boolean object array null')

/** The keywords that are taken over as they are, if their value is what 2020-12 asks for. */
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

/** For which type of value a keyword says something; all others hold for any. */
export const ABOUT: Readonly<Record<string, string>> = {
  ...about('number', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...about('string', 'minLength maxLength pattern format'),
  ...about('array', 'minItems maxItems uniqueItems items'),
  ...about('object', 'minProperties maxProperties properties required additionalProperties'),
}

/** In the words of JSON Schema; whole numbers are `integer`. */
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

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

/** Servers turn patterns into automata, which know neither look-around nor back-references. */
function isPlainPattern(pattern: string): boolean {
  if (/\(\?[=!<]|\\[1-9k]/.test(pattern)) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
