import { withoutKnownSecretsIn } from '../logging/known-secrets.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike, isRecord } from '../runtime/guards.ts'
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
export function readDefinition(entry: unknown): McpToolDefinition | string {
  if (!isRecord(entry)) return `a tool must be an object, got ${kindOf(entry)}`
  const problem = problemOfName(entry.name)
  if (problem) return problem
  if (isTooLarge(entry)) return `the definition of '${entry.name}' is too large`
  // What a server says about itself goes to the console and to models, even if it tells its own key.
  const { name, title, description, inputSchema, outputSchema, annotations } = withoutKnownSecretsIn(entry)
  if (inputSchema !== undefined && !isRecord(inputSchema))
    return `the inputSchema of '${name}' is not an object`
  return {
    name: name as string,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    // A tool can be used without these: what is too large to be read is left out.
    ...(isRecord(outputSchema) && !sizeProblem(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && !sizeProblem(annotations) && { annotations }),
  }
}

function problemOfName(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'a tool has no name'
  if (name.length > MAX_NAME_CHARACTERS)
    return `the name '${safeText(name, 40)}' is longer than ${MAX_NAME_CHARACTERS} characters`
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name) || !name.isWellFormed())
    return `the name '${safeText(name)}' contains invalid characters`
  return undefined
}

/** Counts no further than the limits: a definition can be as large as a message. */
function isTooLarge(definition: object): boolean {
  let values = 0
  let characters = 0
  const waiting: object[] = [definition]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const [key, value] of Object.entries(next)) {
      characters += key.length + (typeof value === 'string' ? value.length : 0)
      if (++values > MAX_DEFINITION_VALUES || characters > MAX_DEFINITION_CHARACTERS) return true
      if (isObjectLike(value)) waiting.push(value)
    }
  }
  return false
}
