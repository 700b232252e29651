import { createHash } from 'node:crypto'
import type { BaseMessage } from '@langchain/core/messages'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { type JsonSchema, jsonSchemaOf, propertiesOf, refTarget, requiredOf } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { LangChainMessages } from './langchain.ts'
import type { RequestedCall } from './read-reply.ts'

/** A provider with its own rules for tool schemas; `openai` stands for every compatible API. */
export type FittingProvider = 'anthropic' | 'ollama' | 'openai'

export interface FittedSchema {
  /** Accepts what the original accepts, under the provider's names, and perhaps more. */
  readonly schema: JsonSchema
  nameBack(args: Record<string, unknown>): Record<string, unknown>
  rename(args: Record<string, unknown>): Record<string, unknown>
}

/** Where the rules come from: docs/decisions/2026-11-16-fitted-schemas.md. Others than Anthropic accept any name. */
const ANTHROPIC_ARGUMENT = /^[a-zA-Z0-9_.-]{1,64}$/
const NUMBERS = /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|(min|max)(Length|Items))$/
const FORMATS = /^(date-time|date|time|duration|email|hostname|ipv4|ipv6|uuid)$/
const TYPES = /^(string|number|integer|boolean|object|array|null)$/

/** More values would bloat the request; the executor still checks them all. */
const MAX_VALUES = 250
const MAX_PARTS = 2_000
/** How often a definition is written out inside itself. */
const MAX_RECURSION = 2
const MAX_NAME_CHARS = 64
/** A tool name that every provider accepts. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * Rewrites an argument schema so that a provider accepts it. It is for the model only: arguments are validated against
 * the original. What the provider cannot express is left out, so the result accepts more, never less.
 */
export function fitSchema(schema: JsonSchema, provider: FittingProvider): FittedSchema {
  const top = folded(writtenOut(schema))
  const kept = Object.entries(top).filter(([key]) => /^(title|description|additionalProperties)$/.test(key))
  const properties = Object.entries(propertiesOf(top) as Record<string, JsonSchema>)
  const renamed = provider === 'anthropic' ? properties.map(([name]) => name) : []
  const renames = safeNames(renamed, ANTHROPIC_ARGUMENT)
  const named = properties.map(([name, one]) => {
    const safe = renames.get(name)
    return safe === undefined ? [name, one] : [safe, described(one, `(${name})`)]
  })
  const required = requiredOf(top).map(name => renames.get(name) ?? name)
  return {
    schema: {
      type: 'object',
      ...Object.fromEntries(kept),
      properties: Object.fromEntries(named),
      ...(required.length > 0 && { required }),
    },
    nameBack: args => withNames(args, inverse(renames)),
    rename: args => withNames(args, renames),
  }
}

/** With references and combinations written out, at the first depth at which that is small enough; else open. */
function writtenOut(root: JsonSchema, maxDepth = 32): JsonSchema {
  let parts = 0
  const fit = (schema: unknown, outside: readonly JsonSchema[]): JsonSchema => {
    if (++parts > MAX_PARTS || !isRecord(schema)) return {}
    if (outside.length >= maxDepth || outside.filter(one => one === schema).length >= MAX_RECURSION)
      return { description: '(not described further: nested too deeply)' }
    const inside = [...outside, schema]
    const inner = (one: unknown) => fit(one, inside)
    const target = refTarget(schema, inside.findLast(({ $id }) => typeof $id === 'string') ?? root)
    const listed = (keyword: string) => (Array.isArray(schema[keyword]) ? schema[keyword] : []).map(inner)
    const unions = ['anyOf', 'oneOf'].map(listed).filter(forms => forms.length > 0)
    const referred = isRecord(target) ? [inner(target)] : []
    const own = typed(ownKeywords(schema, inner), schema)
    return [own, ...referred, ...listed('allOf'), ...unions.map(anyOf)].reduce(both)
  }
  const fitted = fit(root, [])
  if (parts <= MAX_PARTS) return fitted
  return maxDepth > 2 ? writtenOut(root, maxDepth / 4) : {}
}

/** What all providers accept, without types, references and combinations. */
function ownKeywords(schema: JsonSchema, inner: (one: unknown) => JsonSchema): JsonSchema {
  const fitted: JsonSchema = Object.fromEntries(Object.entries(schema).filter(isKept))
  const { properties, items, format, prefixItems, patternProperties, additionalProperties: rest } = schema
  if (Object.hasOwn(schema, 'const')) fitted.enum = [schema.const]
  const entries = isRecord(properties) && Object.entries(properties).map(([name, one]) => [name, inner(one)])
  if (entries) fitted.properties = Object.fromEntries(entries)
  if (requiredOf(schema).length > 0) fitted.required = [...new Set(requiredOf(schema))]
  // Next to patterns and tuples, these are only about the rest.
  if (rest === false && !patternProperties) fitted.additionalProperties = false
  if (isRecord(rest) && !patternProperties) fitted.additionalProperties = inner(rest)
  if (isRecord(items) && !prefixItems) fitted.items = inner(items)
  if (typeof format !== 'string') return fitted
  return FORMATS.test(format) ? { ...fitted, format } : described(fitted, `Format: ${format}.`)
}

function isKept([keyword, value]: [string, unknown]): boolean {
  if (keyword === 'title' || keyword === 'description') return typeof value === 'string'
  if (keyword === 'enum') return Array.isArray(value) && value.length > 0 && value.length <= MAX_VALUES
  // Servers compile patterns to automata, which support neither look-around nor back-references.
  if (keyword === 'pattern') return typeof value === 'string' && !/\(\?[=!<]|\\[1-9k]/.test(value)
  return keyword === 'default' || (NUMBERS.test(keyword) && Number.isFinite(value))
}

/** With its type; a list of types becomes `anyOf`, since Ollama accepts only one. */
function typed(fitted: JsonSchema, { type, nullable }: JsonSchema): JsonSchema {
  const types = [...new Set([type ?? [], nullable === true && type ? 'null' : []].flat(2))]
  if (types.length === 0 || types.some(one => !TYPES.test(String(one)))) return fitted
  // Providers reject an array without `items`.
  const full = types.includes('array') ? { ...fitted, items: fitted.items ?? {} } : fitted
  if (types.length === 1) return { type: types[0], ...full }
  const { description, ...rules } = full
  const forms = types.map(one => (one === 'null' ? { type: one } : { type: one, ...rules }))
  return { ...(description !== undefined && { description }), anyOf: forms }
}

/** Accepts at least what both accept: a constraint that one schema cannot express is left out. */
function both(a: JsonSchema, b: JsonSchema): JsonSchema {
  const properties = { ...propertiesOf(b), ...propertiesOf(a) }
  const required = [...new Set([...requiredOf(a), ...requiredOf(b)])]
  return {
    ...b,
    ...a,
    ...((a.properties ?? b.properties) !== undefined && { properties }),
    ...(required.length > 0 && { required }),
    ...(b.additionalProperties === false && { additionalProperties: false }),
  }
}

/** Accepts what any of them accepts; a `const` in each becomes one enum. */
function anyOf(forms: readonly JsonSchema[]): JsonSchema {
  const different = [...new Map(forms.map(form => [JSON.stringify(form), form])).values()]
  if (different.length <= 1) return different[0] ?? {}
  const isEnum = different.every(form => Array.isArray(form.enum) && Object.keys(form).length === 1)
  return isEnum ? { enum: [...new Set(different.flatMap(form => form.enum))] } : { anyOf: different }
}

/** Folds `anyOf` into the schema, since no provider accepts it at the top. */
function folded(schema: JsonSchema): JsonSchema {
  const { anyOf: given, ...base } = schema
  if (given === undefined) return base
  const forms = (given as JsonSchema[]).map(form => both(base, folded(form)))
  const isClosed = (form: JsonSchema) => form.additionalProperties === false
  const property = (name: string) => {
    // A form without the name allows any value, unless it is closed.
    const inForm = (form: JsonSchema) => ownValue(propertiesOf(form), name) ?? (isClosed(form) ? [] : {})
    return anyOf(forms.flatMap(inForm) as JsonSchema[])
  }
  const names = [...new Set(forms.flatMap(form => Object.keys(propertiesOf(form))))]
  const required = names.filter(name => forms.every(form => requiredOf(form).includes(name)))
  const { additionalProperties, ...open } = base
  return {
    ...open,
    properties: Object.fromEntries(names.map(name => [name, property(name)])),
    ...(required.length > 0 && { required }),
    ...(forms.every(isClosed) && { additionalProperties: false }),
  }
}

function described(schema: JsonSchema, words: string): JsonSchema {
  return { ...schema, description: [schema.description, words].filter(Boolean).join(' ') }
}

/** Maps each name that is not allowed to a similar one that is; deterministic and one to one. Allowed names are not in it. */
export function safeNames(names: Iterable<string>, allowed: RegExp): Map<string, string> {
  const all = [...new Set(names)]
  const taken = new Set(all.filter(name => allowed.test(name)))
  const renamed = new Map<string, string>()
  for (const name of all.filter(each => !allowed.test(each))) {
    const plain = name.normalize('NFKD').replace(/[^a-zA-Z0-9_-]/g, '_')
    const hash = `_${createHash('sha256').update(name).digest('hex').slice(0, 6)}`
    const isFree = plain !== '' && plain.length <= MAX_NAME_CHARS && !taken.has(plain)
    const safe = isFree ? plain : `${plain.slice(0, MAX_NAME_CHARS - hash.length)}${hash}`
    taken.add(safe)
    renamed.set(name, safe)
  }
  return renamed
}

const inverse = (names: ReadonlyMap<string, string>) => new Map([...names].map(([a, b]) => [b, a]))

function withNames(args: Record<string, unknown>, names: ReadonlyMap<string, string>) {
  if (names.size === 0) return args
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]))
}

/** Tools that a provider accepts, whatever their names and schemas. */
export type FittedTools = ReturnType<typeof fitTools>

export function fitTools(tools: readonly Tool[], provider: FittingProvider, logger: Logger) {
  const names = safeNames(tools.map(offeredName), TOOL_NAME)
  const schemas = new Map(
    tools.map(tool => [offeredName(tool), fitSchema(readSchema(tool, logger), provider)]),
  )
  return {
    /** In LangChain's format, with JSON Schemas. */
    tools: tools.map((tool): Tool => {
      const { description, invoke } = tool
      const name = offeredName(tool)
      return { name: names.get(name) ?? name, description, schema: schemas.get(name)?.schema ?? {}, invoke }
    }),

    /** A model's call, under the names the executor knows. */
    original(call: RequestedCall): RequestedCall {
      const name = inverse(names).get(call.name) ?? call.name
      const args = typeof call.args === 'string' ? undefined : schemas.get(name)?.nameBack(call.args)
      return { ...call, name, args: args ?? call.args }
    },

    /** A conversation under the names the model was given: providers reject others in past calls too. */
    renamed(messages: readonly BaseMessage[], { AIMessage }: LangChainMessages): BaseMessage[] {
      return messages.map(message => {
        if (!AIMessage.isInstance(message) || !message.tool_calls?.length) return message
        const tool_calls = message.tool_calls.map(call => ({
          ...call,
          name: names.get(call.name) ?? call.name,
          args: schemas.get(call.name)?.rename(call.args) ?? call.args,
        }))
        const isSame = JSON.stringify(tool_calls) === JSON.stringify(message.tool_calls)
        return isSame ? message : new AIMessage({ content: message.content as string, tool_calls })
      })
    },
  }
}

/** An unreadable schema is left open: the tool is still offered, and the executor says what is wrong. */
function readSchema(tool: Tool, logger?: Logger): JsonSchema {
  try {
    return jsonSchemaOf(tool)
  } catch (error) {
    const reason = safeText(describeThrown(error))
    logger?.warn({ tool: safeText(tool.name), reason }, 'Tool offered without its arguments')
    return { properties: {} }
  }
}

/** A tool in the format that Qwen, every other model on Ollama, and OpenAI's API expect. */
export interface QwenTool {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema }
}

/** Describes tools in Qwen's format. Pure: the tools are not changed; `null` or `undefined` returns `[]`. */
export function toQwenTools(tools: readonly Tool[] | null | undefined): QwenTool[] {
  return (tools ?? []).map(tool => {
    const { $schema, ...schema } = readSchema(tool)
    // Models ignore tools without a description; the name in words is better than nothing.
    const description = tool.description?.trim() || tool.name.replace(/[_-]+/g, ' ')
    const parameters = { ...schema, type: 'object' }
    return { type: 'function', function: { name: offeredName(tool), description, parameters } }
  })
}

/** `lc_name` if it is a non-empty string, else `name`. */
function offeredName({ name, lc_name }: Tool): string {
  return typeof lc_name === 'string' && lc_name !== '' ? lc_name : name
}
