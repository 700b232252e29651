import { isDeepStrictEqual } from 'node:util'
import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike, isRecord } from '../runtime/guards.ts'
import { type JsonSchema, propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import { kindOf } from './call-result.ts'
import { headerParameters } from './header-parameters.ts'
import { MAX_DEFINITION_CHARACTERS, MAX_DEFINITION_VALUES, MAX_NAME_CHARACTERS } from './limits.ts'

/** What Toolpost reads of a server's tool definition. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema | undefined
  readonly annotations?: McpAnnotations | undefined
  /** Passed on unchanged. */
  readonly icons?: readonly unknown[] | undefined
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** What a server says about the effects of a tool. Only hints: safety must not depend on them. */
interface McpAnnotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/** Reads one entry of `tools/list`, leniently: one bad tool must not spoil the rest. Returns the reason if it is unusable. */
export function readDefinition(
  entry: unknown,
  { mirrorsArguments = false } = {},
): McpToolDefinition | string {
  const problem = problemOfDefinition(entry)
  if (problem || !isRecord(entry)) return problem ?? ''
  // A definition goes to the console and to models, and may contain the server's own key.
  const clean = withoutKnownSecretsIn(entry)
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = clean
  if (inputSchema !== undefined && !isRecord(inputSchema))
    return `the inputSchema of '${name}' is not an object`
  const headers = mirrorsArguments && inputSchema ? headerParameters(inputSchema).problem : undefined
  if (headers) return `the inputSchema of '${name}' is invalid: ${safeText(headers, 200)}`
  return {
    name: name as string,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    // A tool works without these, so they are left out if they are too large.
    ...(isRecord(outputSchema) && !sizeProblem(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && !sizeProblem(annotations) && { annotations }),
    ...(Array.isArray(icons) && { icons }),
    ...(isRecord(_meta) && { _meta }),
  }
}

/** Why an entry of a list cannot be used. `key` is the field that names it. */
export function problemOfDefinition(entry: unknown, key = 'name', what = 'a tool'): string | undefined {
  if (!isRecord(entry)) return `${what} must be an object, got ${kindOf(entry)}`
  const name = entry[key]
  const isTooLarge = charactersOf(entry) > MAX_DEFINITION_CHARACTERS
  return (
    problemOfName(name, key, what) ?? (isTooLarge ? `the definition of '${name}' is too large` : undefined)
  )
}

function problemOfName(name: unknown, key: string, what: string): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return `${what} has no ${key}`
  const longest = key === 'name' ? MAX_NAME_CHARACTERS : MAX_URI_CHARACTERS
  if (name.length > longest) return `the ${key} '${safeText(name, 40)}' is longer than ${longest} characters`
  if (CONTROL.test(name) || !name.isWellFormed())
    return `the ${key} '${safeText(name, 200)}' contains invalid characters`
  return undefined
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const MAX_URI_CHARACTERS = 8_192
/** The count for anything over the limits. */
const TOO_LARGE = 8 * MAX_DEFINITION_CHARACTERS

/** The amount of text in a definition, or `TOO_LARGE` as soon as it exceeds the limit on text or values. */
export function charactersOf(definition: unknown): number {
  let values = 0
  let characters = 0
  const waiting: object[] = isObjectLike(definition) ? [definition] : []
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const key in next) {
      const value = (next as Record<string, unknown>)[key]
      characters += key.length + (typeof value === 'string' ? value.length : 0)
      if (++values > MAX_DEFINITION_VALUES || characters > MAX_DEFINITION_CHARACTERS) return TOO_LARGE
      if (isObjectLike(value)) waiting.push(value)
    }
  }
  return characters
}

const MAX_SHOWN = 200

/** What changed in a tool's definition, one phrase per change. */
export function describeChanges(before: McpToolDefinition, after: McpToolDefinition): string[] {
  if (isDeepStrictEqual(before, after)) return []
  const changes = [
    ...changed('title', before.title, after.title),
    ...changed('description', before.description, after.description),
    ...argumentChanges(before, after),
    ...annotationChanges(before, after),
    ...changed('output schema', before.outputSchema, after.outputSchema),
  ]
  return changes.length > 0 ? changes : ['input schema changed']
}

function argumentChanges(before: McpToolDefinition, after: McpToolDefinition): string[] {
  const old = propertiesOf(before.inputSchema)
  const now = propertiesOf(after.inputSchema)
  const names = new Set([...Object.keys(old), ...Object.keys(now)])
  return [...names].flatMap(name => {
    if (!Object.hasOwn(now, name)) return [`argument '${name}' removed`]
    if (!Object.hasOwn(old, name)) return [`argument '${name}' added: ${shown(now[name])}`]
    return [...changed(`argument '${name}'`, old[name], now[name]), ...requiredChange(name, before, after)]
  })
}

function requiredChange(name: string, before: McpToolDefinition, after: McpToolDefinition): string[] {
  const was = requiredOf(before.inputSchema).includes(name)
  const is = requiredOf(after.inputSchema).includes(name)
  return was === is ? [] : [`argument '${name}' is ${is ? 'now required' : 'no longer required'}`]
}

function annotationChanges(before: McpToolDefinition, after: McpToolDefinition): string[] {
  const old: Record<string, unknown> = { ...before.annotations }
  const now: Record<string, unknown> = { ...after.annotations }
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap(key =>
    changed(key, old[key], now[key]),
  )
}

function changed(what: string, before: unknown, after: unknown): string[] {
  return isDeepStrictEqual(before, after) ? [] : [`${what}: ${shown(before)} → ${shown(after)}`]
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : safeText(JSON.stringify(value) ?? String(value), MAX_SHOWN)
}
