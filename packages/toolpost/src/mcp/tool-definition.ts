import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike, isRecord } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
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
  readonly execution?: Readonly<Record<string, unknown>> | undefined
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
  const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } = clean
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
    ...(isRecord(execution) && { execution }),
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
