import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import { isRecord } from '../util/guards.ts'
import { withoutInvisible } from '../util/text.ts'
import { kindOf } from './call-result.ts'
import { headerParameters } from './header-parameters.ts'

/** An entry of a list that is longer than this is left out. */
const MAX_BYTES = 512 * 1024
const MAX_NAME_CHARACTERS = 256
const MAX_URI_CHARACTERS = 8_192
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** What Toolpost reads of a server's tool definition. Annotations are only hints: safety must not depend on them. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: Readonly<Record<string, unknown>>
  /** As the server sent it, if invisible text was removed; its own name is needed to call it. */
  readonly raw?: Readonly<{ name: string; title?: unknown; description?: unknown; inputSchema?: unknown }>
  readonly icons?: readonly unknown[]
  readonly _meta?: Readonly<Record<string, unknown>>
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
  const seen = visible(clean)
  const { name, title, description, inputSchema } = seen
  const { outputSchema, annotations, icons, _meta } = clean
  if (name === '') return 'the name of a tool is invisible'
  if (inputSchema !== undefined && !isRecord(inputSchema))
    return `the inputSchema of '${name}' is not an object`
  const headers = mirrorsArguments && inputSchema ? headerParameters(inputSchema).problem : undefined
  if (headers) return `the inputSchema of '${name}' is invalid: ${safeText(headers, 200)}`
  return {
    name: name as string,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(seen !== clean && { raw: { ...clean, name: clean.name as string } }),
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    // A tool works without these, so they are left out if they are too large.
    ...(isRecord(outputSchema) && !sizeProblem(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && !sizeProblem(annotations) && { annotations }),
    ...(Array.isArray(icons) && { icons }),
    ...(isRecord(_meta) && { _meta }),
  }
}

/** The definition without invisible text in what a model reads; the same object if there is none. */
function visible(definition: Record<string, unknown>): Record<string, unknown> {
  const { name, title, description, inputSchema } = definition
  const read = { name, title, description, inputSchema }
  const text = JSON.stringify(read)
  return withoutInvisible(text) === text
    ? definition
    : { ...definition, ...(visibleIn(read, true) as object) }
}

/** Texts that are compared with what a caller sends stay as they are. */
function visibleIn(value: unknown, isText: boolean): unknown {
  if (typeof value === 'string') return isText ? withoutInvisible(value) : value
  if (Array.isArray(value)) return value.map(each => visibleIn(each, false))
  if (!isRecord(value)) return value
  const isShown = (key: string) => key === 'description' || key === 'title' || (isText && key === 'name')
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, visibleIn(each, isShown(key))]))
}

/** Why an entry of a list cannot be used. `key` is the field that names it. */
export function problemOfDefinition(entry: unknown, key = 'name', what = 'a tool'): string | undefined {
  if (!isRecord(entry)) return `${what} must be an object, got ${kindOf(entry)}`
  const name = entry[key]
  if (typeof name !== 'string' || name.trim() === '') return `${what} has no ${key}`
  const longest = key === 'name' ? MAX_NAME_CHARACTERS : MAX_URI_CHARACTERS
  if (name.length > longest) return `the ${key} '${safeText(name, 40)}' is longer than ${longest} characters`
  if (CONTROL.test(name) || !name.isWellFormed())
    return `the ${key} '${safeText(name, 200)}' contains invalid characters`
  return JSON.stringify(entry).length > MAX_BYTES ? `the definition of '${name}' is too large` : undefined
}
