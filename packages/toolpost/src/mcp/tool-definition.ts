import { withoutKnownSecretsIn } from '../logging/known-secrets.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike, isRecord } from '../runtime/guards.ts'
import { headerParameters } from '../schema/header-parameters.ts'
import { type JsonSchema, sizeProblem } from '../schema/json-schema.ts'
import { kindOf } from './call-result.ts'
import { MAX_DEFINITION_CHARACTERS, MAX_DEFINITION_VALUES, MAX_NAME_CHARACTERS } from './limits.ts'

/** A tool as its server describes it, as far as Toolpost reads it. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema | undefined
  readonly annotations?: McpAnnotations | undefined
  /** What is passed on as it came. */
  readonly icons?: readonly unknown[] | undefined
  readonly execution?: Readonly<Record<string, unknown>> | undefined
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** What a server says about the effects of a tool. Hints: nothing that is unsafe may hang on them. */
interface McpAnnotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/** Reads one entry of `tools/list`. Lenient, because one bad tool must not take the others away; words if it cannot. */
export function readDefinition(
  entry: unknown,
  { mirrorsArguments = false } = {},
): McpToolDefinition | string {
  const problem = problemOfDefinition(entry)
  if (problem || !isRecord(entry)) return problem ?? ''
  // What a server says about itself goes to the console and to models, even if it tells its own key.
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
    // A tool can be used without these: what is too large to be read is left out.
    ...(isRecord(outputSchema) && !sizeProblem(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && !sizeProblem(annotations) && { annotations }),
    ...(Array.isArray(icons) && { icons }),
    ...(isRecord(execution) && { execution }),
    ...(isRecord(_meta) && { _meta }),
  }
}

/** Why an entry of a list cannot be used, in words. `key` is what it is known by. */
export function problemOfDefinition(entry: unknown, key = 'name', what = 'a tool'): string | undefined {
  if (!isRecord(entry)) return `${what} must be an object, got ${kindOf(entry)}`
  const name = entry[key]
  return (
    problemOfName(name, key, what) ??
    (isTooLarge(entry) ? `the definition of '${name}' is too large` : undefined)
  )
}

function problemOfName(name: unknown, key: string, what: string): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return `${what} has no ${key}`
  if (key !== 'name' && name.length <= MAX_URI_CHARACTERS && !CONTROL.test(name)) return undefined
  if (name.length > MAX_NAME_CHARACTERS)
    return `the name '${safeText(name, 40)}' is longer than ${MAX_NAME_CHARACTERS} characters`
  if (CONTROL.test(name) || !name.isWellFormed())
    return `the name '${safeText(name)}' contains invalid characters`
  return undefined
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const MAX_URI_CHARACTERS = 8_192
/** What one counts that has too much, however much that is. */
const TOO_LARGE = 8 * MAX_DEFINITION_CHARACTERS

function isTooLarge(definition: object): boolean {
  return charactersOf(definition) > MAX_DEFINITION_CHARACTERS
}

/** How much text a definition has, counted no further than what it may have; one with too many values has too much. */
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
