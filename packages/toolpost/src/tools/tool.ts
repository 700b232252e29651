import type { JsonSchema, StandardSchema } from '../schema/json-schema.ts'

export interface Progress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** What a tool is given beside its arguments. */
export interface InvokeOptions {
  /** Aborts at the deadline and when the caller gives up. Made when it is first read. */
  readonly signal: AbortSignal
  readonly callId?: string | undefined
  /** Tells the caller how far the tool is; extends the deadline where the tool has a `maxTimeoutMs`. */
  reportProgress?(progress: Progress): void
  /** Like an `abort` listener on `signal`, without the cost of a signal. */
  onAbort?(listener: () => void): void
  /** Whether the caller asked for progress, or the deadline depends on it. */
  readonly wantsProgress?: boolean
}

/**
 * A tool, in the interface that LangChain's tools have too: those go in unchanged.
 * `invoke` may throw, reject or hang; the executor turns each into a result.
 */
export interface Tool {
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema | StandardSchema | object
  invoke(args: object, options?: InvokeOptions): unknown
  readonly lc_name?: unknown
  /** The tool takes its arguments as `{ input: args }`. */
  readonly inputEnvelope?: boolean | undefined
  /** A short name for people. */
  readonly title?: string | undefined
  /** JSON Schema of the structured result, as a server gave it; it may be wrong. */
  readonly outputSchema?: JsonSchema | undefined
  readonly timeoutMs?: number | undefined
  /** Progress may extend the deadline up to this. */
  readonly maxTimeoutMs?: number | undefined
  readonly readOnly?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly destructive?: boolean | undefined
  /** Sentences that call this tool without a model. */
  readonly sentences?: readonly string[] | undefined
  /** LangChain: `content_and_artifact` tools return `[content, artifact]`. */
  readonly responseFormat?: string | undefined
}

/** What can be registered: a Tool, or a LangChain tool of any type of arguments. */
export interface ToolLike {
  readonly name: string
  readonly description?: string | undefined
  readonly schema: object
  invoke: (...args: never[]) => unknown
}

export interface ToolDefinition<Args extends object> {
  name: string
  description: string
  /** JSON Schema, or a Standard Schema that gives one (zod 4, valibot with its converter). */
  schema: JsonSchema | StandardSchema
  handler(args: Args, options: InvokeOptions): unknown
  title?: string | undefined
  timeoutMs?: number | undefined
  maxTimeoutMs?: number | undefined
  readOnly?: boolean | undefined
  idempotent?: boolean | undefined
  sentences?: readonly string[] | undefined
}

/** What the schema of a definition takes, as TypeScript knows it. */
type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'] & object

type DefinitionFor<Schema extends StandardSchema> = Omit<ToolDefinition<InputOf<Schema>>, 'schema'> & {
  schema: Schema
}

/**
 * Makes a tool of a function. Every field is written out, also those that are not given: tools that are alike in
 * form are found and called twice as fast as ten thousand different ones.
 */
export function defineTool<Schema extends StandardSchema>(definition: DefinitionFor<Schema>): Tool
export function defineTool<Args extends object = Record<string, unknown>>(
  definition: ToolDefinition<Args>,
): Tool
export function defineTool(definition: ToolDefinition<object>): Tool {
  return {
    name: definition.name,
    description: definition.description,
    schema: definition.schema,
    invoke: definition.handler,
    lc_name: undefined,
    inputEnvelope: undefined,
    title: definition.title,
    outputSchema: undefined,
    timeoutMs: definition.timeoutMs,
    maxTimeoutMs: definition.maxTimeoutMs,
    readOnly: definition.readOnly,
    idempotent: definition.idempotent,
    destructive: undefined,
    sentences: definition.sentences,
    responseFormat: undefined,
  }
}
