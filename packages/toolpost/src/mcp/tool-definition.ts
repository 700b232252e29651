import { withoutKnownSecretsIn } from '../logging/known-secrets.ts'
import { isRecord } from '../runtime/guards.ts'
import { type JsonSchema, sizeProblem } from '../schema/json-schema.ts'

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

/** Reads one entry of `tools/list`. Lenient, because one bad tool must not take the others away; words where it cannot. */
export function readDefinition(entry: unknown): McpToolDefinition | string {
  if (!isRecord(entry)) return `a tool must be an object, got ${JSON.stringify(entry) ?? typeof entry}`
  // What a server tells of itself goes to the console and to models, also where it tells its own key.
  const { name, title, description, inputSchema, outputSchema, annotations } = withoutKnownSecretsIn(entry)
  if (typeof name !== 'string' || name.trim() === '') return 'a tool has no name'
  if (inputSchema !== undefined && !isRecord(inputSchema))
    return `the inputSchema of '${name}' is not an object`
  const problem = sizeProblem(inputSchema)
  if (problem) return `the inputSchema of '${name}' cannot be read: ${problem}`
  return {
    name,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    // A result can be used without it: one that cannot be read is left out.
    ...(isRecord(outputSchema) && !sizeProblem(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
  }
}
