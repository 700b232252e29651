import type { FromSchema, JSONSchema } from 'json-schema-to-ts'
import type { JsonSchema, StandardSchema } from '../schema/json-schema.ts'
import type { Requester } from './caller.ts'

export interface Progress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** A request to the server that a tool belongs to. */
export interface ServerRequest {
  method: string
  id: string | number
  protocolVersion: string | undefined
  sessionId?: string | undefined
  /** Left out for a server on the other end of a pipe. */
  address?: { host: string; port: number } | undefined
}

/** What a tool is given beside its arguments, and how it reaches whoever made the call. */
export interface InvokeOptions extends Requester {
  /** Aborts at the deadline and when the caller gives up. Made when it is first read. */
  readonly signal: AbortSignal
  readonly callId?: string | undefined
  /** What goes along with the call: `_meta` of an MCP call, such as `traceparent`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  /** Tells the caller how far the tool is; extends the deadline if the tool has a `maxTimeoutMs`. */
  reportProgress?(progress: Progress): void
  /** Like an `abort` listener on `signal`, without the cost of a signal. */
  onAbort?(listener: () => void): void
  /** Whether the caller asked for progress, or the deadline depends on it. */
  readonly wantsProgress?: boolean
  /** Told of the request to a tool's server, if anybody wants to know. */
  readonly onRequest?: ((request: ServerRequest) => void) | undefined
}

/**
 * A tool, in the interface that LangChain's tools have too: those go in unchanged.
 * `invoke` may throw, reject or hang; the executor turns each into a result. `Args` and `Result` are what the
 * program's own code is checked against; calls of models are checked by the schema.
 */
export interface Tool<Args extends object = object, Result = unknown> {
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema | StandardSchema | object
  /** What it returns, or resolves to, is the result; a `ToolOutput` has content for a model beside it. */
  invoke(args: Args, options?: InvokeOptions): Result | PromiseLike<Result>
  readonly lc_name?: unknown
  /** The tool takes its arguments as `{ input: args }`. */
  readonly inputEnvelope?: boolean | undefined
  /** A short name for people. */
  readonly title?: string | undefined
  /** JSON Schema of the structured result, as a server gave it; it may be wrong. */
  readonly outputSchema?: JsonSchema | undefined
  readonly timeoutMs?: number | undefined
  /** No call may take longer: neither one that reports progress nor one whose caller asks for more time. */
  readonly maxTimeoutMs?: number | undefined
  readonly readOnly?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly destructive?: boolean | undefined
  /** Whether it deals with more than what it owns, such as the web. */
  readonly openWorld?: boolean | undefined
  /** What an MCP server says of it that is passed on as it came. */
  readonly passedOn?: Readonly<{ icons?: unknown; annotations?: unknown; _meta?: unknown }> | undefined
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

/** A tool as a program writes it down. `Args` is what the handler is given. */
export interface ToolDefinition<Args extends object, Result = unknown, Schema = JsonSchema | StandardSchema> {
  name: string
  description: string
  /** JSON Schema, or a Standard Schema that gives one (zod 4, valibot with its converter). */
  schema: Schema
  handler(args: Args, options: InvokeOptions): Result
  title?: string | undefined
  timeoutMs?: number | undefined
  maxTimeoutMs?: number | undefined
  readOnly?: boolean | undefined
  idempotent?: boolean | undefined
  destructive?: boolean | undefined
  openWorld?: boolean | undefined
  sentences?: readonly string[] | undefined
}

/** What callers give, and what the handler gets, as the library behind a Standard Schema knows it. */
type StandardTypes<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>
type InputOf<Schema extends StandardSchema> = StandardTypes<Schema>['input'] & object
type OutputOf<Schema extends StandardSchema> = (StandardTypes<Schema> extends {
  readonly output: infer Output
}
  ? Output
  : StandardTypes<Schema>['input']) &
  object

/** What a JSON Schema takes, if it is written out as a literal; any arguments if not. */
type ArgsOf<Schema> = string extends keyof Schema
  ? Record<string, unknown>
  : Schema extends JSONSchema
    ? Extract<FromSchema<Schema>, object>
    : Record<string, unknown>

/** For `defineTool<Args>`: the handler takes what was written there and nothing narrower. */
interface AnnotatedDefinition<Args extends object> extends ToolDefinition<Args> {
  handler: (args: NoInfer<Args>, options: InvokeOptions) => unknown
}

/**
 * Makes a tool of a function. Every field is written out, also those that are not given: tools that are alike in
 * form are found and called twice as fast as ten thousand different ones.
 */
export function defineTool<Schema extends StandardSchema, Result>(
  definition: ToolDefinition<OutputOf<Schema>, Result, Schema>,
): Tool<InputOf<Schema>, Awaited<Result>>
export function defineTool<const Schema extends JsonSchema, Result>(
  definition: ToolDefinition<ArgsOf<Schema>, Result, Schema>,
): Tool<ArgsOf<Schema>, Awaited<Result>>
export function defineTool<Args extends object>(definition: AnnotatedDefinition<Args>): Tool<Args>
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
    destructive: definition.destructive,
    openWorld: definition.openWorld,
    passedOn: undefined,
    sentences: definition.sentences,
    responseFormat: undefined,
  }
}
