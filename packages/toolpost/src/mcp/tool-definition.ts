import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import { isRecord } from '../util/guards.ts'
import { fitsGlob, withoutInvisible } from '../util/text.ts'
import { kindOf } from './call-result.ts'
import { headerParameters } from './header-parameters.ts'
import type { ServerEntry } from './server-entry.ts'

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

/** The tools of a list that are usable and offered, by name; of two with the same name, the later one. */
export function usableDefinitions(
  listed: readonly unknown[],
  { include = ['*'], exclude = [] }: ServerEntry,
  mirrorsArguments: boolean,
) {
  const definitions = new Map<string, McpToolDefinition>()
  const warnings: [fields: object, message: string][] = []
  for (const each of listed) {
    const definition = readDefinition(each, mirrorsArguments)
    if (typeof definition === 'string') {
      warnings.push([{ reason: safeText(definition) }, 'MCP tool skipped'])
      continue
    }
    const { name, raw } = definition
    const fits = (glob: string) => fitsGlob(name, glob)
    if (!include.some(fits) || exclude.some(fits)) continue
    const fields = { tool: safeText(name) }
    if (raw) warnings.push([fields, 'Invisible text was removed from the definition of an MCP tool'])
    if (definitions.has(name)) warnings.push([fields, 'MCP tool listed twice; using the later one'])
    definitions.set(name, definition)
  }
  return { definitions, warnings }
}

/** Reads one entry of `tools/list`, leniently: one bad tool must not spoil the rest. Returns the reason if it is unusable. */
function readDefinition(entry: unknown, mirrorsArguments: boolean): McpToolDefinition | string {
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
  const text = JSON.stringify({ name, title, description, inputSchema })
  if (withoutInvisible(text) === text) return definition
  // Texts that are compared with what a caller sends stay as they are.
  const read = JSON.parse(text, (key, value) =>
    (key === 'title' || key === 'description') && typeof value === 'string' ? withoutInvisible(value) : value,
  )
  return { ...definition, ...read, name: withoutInvisible(String(name)) }
}

/** Why an entry of a list cannot be used. `key` is the field that names it. */
export function problemOfDefinition(entry: unknown, key = 'name', what = 'a tool'): string | undefined {
  if (!isRecord(entry)) return `${what} must be an object, got ${kindOf(entry)}`
  const name = entry[key]
  if (typeof name !== 'string' || name.trim() === '') return `${what} has no ${key}`
  const longest = key === 'name' ? MAX_NAME_CHARACTERS : MAX_URI_CHARACTERS
  if (name.length > longest) return `the ${key} '${safeText(name, 40)}' is longer than ${longest} characters`
  const isClean = name.isWellFormed() && !CONTROL.test(name)
  return isClean ? undefined : `the ${key} '${safeText(name, 200)}' contains invalid characters`
}
