import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { kindOf } from '../schema/explain.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import type { Tool } from '../tools/tool.ts'
import { isRecord } from '../util/guards.ts'
import { fitsGlob, withoutInvisible } from '../util/text.ts'
import { headerParameters } from './header-parameters.ts'
import { isTooDeep } from './json-limit.ts'
import type { ServerEntry } from './server-entry.ts'

const MAX_NAME_CHARACTERS = 256
const MAX_URI_CHARACTERS = 8_192
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** A tool as its server describes it. Annotations are only hints: safety must not depend on them. */
export type McpToolDefinition = Omit<Tool, 'schema' | 'invoke'> & { readonly schema: JsonSchema }

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
  const { name, inputSchema: schema = { type: 'object' } } = seen
  const { icons, _meta } = clean
  if (name === '') return 'the name of a tool is invisible'
  if (!isRecord(schema)) return `the inputSchema of '${name}' is not an object`
  const headers = mirrorsArguments ? headerParameters(schema).problem : undefined
  if (headers) return `the inputSchema of '${name}' is invalid: ${safeText(headers, 200)}`
  // A tool works without these, so they are left out if they are too large.
  const small = (part: unknown) => (isRecord(part) && !sizeProblem(part) ? part : undefined)
  const annotations = small(clean.annotations)
  // Only a real `true` may allow a call to run twice, whatever a server sends.
  const hint = (key: string) => (typeof annotations?.[key] === 'boolean' ? annotations[key] : undefined)
  const title = textOf(seen.title) ?? textOf(annotations?.title)
  return {
    name: String(name),
    title,
    description: textOf(seen.description) ?? title,
    schema,
    outputSchema: small(clean.outputSchema),
    raw: seen === clean ? undefined : { ...clean, name: String(clean.name) },
    readOnly: hint('readOnlyHint'),
    idempotent: hint('idempotentHint'),
    destructive: hint('destructiveHint'),
    openWorld: hint('openWorldHint'),
    passedOn: {
      icons: Array.isArray(icons) ? icons : undefined,
      annotations,
      _meta: isRecord(_meta) ? _meta : undefined,
    },
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
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
  if (!isRecord(entry)) return `${what} must be object, got ${kindOf(entry)}`
  const name = entry[key]
  if (typeof name !== 'string' || name.trim() === '') return `${what} has no ${key}`
  const longest = key === 'name' ? MAX_NAME_CHARACTERS : MAX_URI_CHARACTERS
  if (name.length > longest) return `the ${key} '${safeText(name, 40)}' is longer than ${longest} characters`
  const isClean = name.isWellFormed() && !CONTROL.test(name)
  if (!isClean) return `the ${key} '${safeText(name, 200)}' contains invalid characters`
  return isTooDeep(entry) ? `'${safeText(name, 100)}' is nested too deeply` : undefined
}
