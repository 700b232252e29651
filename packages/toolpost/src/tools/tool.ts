import type { FromSchema, JSONSchema } from 'json-schema-to-ts'
import type { JsonSchema, StandardSchema } from '../schema/json-schema.ts'
import type { Requester } from './caller.ts'
import { checkName } from './check-tool.ts'

export interface Progress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** A request to a tool's server; `address` is left out for a stdio server. */
export interface ServerRequest {
  method: string
  id: string | number
  protocolVersion: string | undefined
  sessionId?: string | undefined
  address?: { host: string; port: number } | undefined
}

/** What a tool receives besides its arguments, and how it reaches the caller. */
export interface InvokeOptions extends Requester {
  /** Aborts at the deadline and when the caller gives up. Created when first read. */
  readonly signal: AbortSignal
  readonly callId?: string | undefined
  /** Metadata of the call: `_meta` of an MCP call, such as `traceparent`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  /** Reports progress to the caller; extends the deadline if the tool has a `maxTimeoutMs`. */
  reportProgress?(progress: Progress): void
  /** Like an `abort` listener on `signal`, without the cost of a signal. */
  onAbort?(listener: () => void): void
  /** Whether the caller asked for progress, or the deadline depends on it. */
  readonly wantsProgress?: boolean
  /** Called with the request to the tool's server; left out if nobody listens. */
  readonly onRequest?: ((request: ServerRequest) => void) | undefined
}

/** The key of a tool's `_meta` under which a server sends its sentences: language → YAML. */
export const SENTENCES_META = 'toolpost/sentences'

/** What is known about a tool besides its name, description and schema. */
export interface ToolTraits {
  /** A short name for people. */
  readonly title?: string | undefined
  readonly timeoutMs?: number | undefined
  /** The longest a call may take, even if it reports progress or its caller asks for more time. */
  readonly maxTimeoutMs?: number | undefined
  readonly readOnly?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly destructive?: boolean | undefined
  /** Whether it interacts with external entities, such as the web. */
  readonly openWorld?: boolean | undefined
  /** Sentences that call this tool without a model. */
  readonly sentences?: readonly string[] | undefined
}

/**
 * A tool, with the same interface as LangChain's tools, which can be used unchanged.
 * `invoke` may throw, reject or hang; the executor turns each into a result. `Args` and `Result` type the program's own
 * code; calls by models are checked against the schema.
 */
export interface Tool<Args extends object = object, Result = unknown> extends ToolTraits {
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema | StandardSchema | object
  /** Its return or resolved value is the result; a `ToolOutput` adds content for a model. */
  invoke(args: Args, options?: InvokeOptions): Result | PromiseLike<Result>
  readonly lc_name?: unknown
  /** The tool expects its arguments as `{ input: args }`. */
  readonly inputEnvelope?: boolean | undefined
  /** JSON Schema of the structured result, as declared by a server; it may be wrong. */
  readonly outputSchema?: JsonSchema | undefined
  /** Metadata from an MCP server, passed on unchanged. */
  readonly passedOn?: Readonly<{ icons?: unknown; annotations?: unknown; _meta?: unknown }> | undefined
  /** What an MCP server says about it, if invisible text was removed from that. */
  readonly raw?: RawDefinition | undefined
  /** LangChain: `content_and_artifact` tools return `[content, artifact]`. */
  readonly responseFormat?: string | undefined
}

type RawDefinition = Readonly<{ name: string; title?: unknown; description?: unknown; inputSchema?: unknown }>

/** What can be registered: a Tool, or a LangChain tool with any type of arguments. */
export interface ToolLike {
  readonly name: string
  readonly description?: string | undefined
  readonly schema: object
  invoke: (...args: never[]) => unknown
}

/** A tool as a program defines it. `Args` is what the handler receives. */
export interface ToolDefinition<Args extends object, Result = unknown, Schema = JsonSchema | StandardSchema>
  extends ToolTraits {
  name: string
  description: string
  /** JSON Schema, or a Standard Schema that provides one (zod 4, valibot with its converter). */
  schema: Schema
  handler(args: Args, options: InvokeOptions): Result
}

/** What callers pass and what the handler receives, according to the library behind a Standard Schema. */
type TypesOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>
type InputOf<Schema extends StandardSchema> = TypesOf<Schema>['input'] & object
type OutputOf<Schema extends StandardSchema> = object &
  (TypesOf<Schema> extends { readonly output: infer Output } ? Output : TypesOf<Schema>['input'])

/** What a JSON Schema accepts, if it is a literal type; otherwise any arguments. */
type ArgsOf<Schema> = string extends keyof Schema
  ? Record<string, unknown>
  : Schema extends JSONSchema
    ? Named<Schema, Extract<FromSchema<Finite<Schema>>, object>>
    : Record<string, unknown>

/** Only the arguments that the schema names, unless it says something about others: a misspelt one is a mistake. */
type Named<Schema, Args> = Schema extends { readonly properties: object }
  ? Schema extends { readonly additionalProperties: unknown } | { readonly patternProperties: unknown }
    ? Args
    : { [Key in keyof Args as string extends Key ? never : Key]: Args[Key] }
  : Args

/** A schema in which whatever may be recursive accepts anything. */
type Finite<Schema extends JSONSchema> = Unrolled<Schema> extends JSONSchema ? Unrolled<Schema> : Schema
/** Keeps a reference only if it is to a definition, and not from within one. */
type Unrolled<Schema, InDefinition = false> = Schema extends { readonly $ref: infer Ref extends string }
  ? [InDefinition, Ref] extends [false, `#/${DefinitionsKey}/${string}`]
    ? Schema
    : true
  : Schema extends object
    ? {
        readonly [Key in keyof Schema]: Unrolled<
          Schema[Key],
          Key extends DefinitionsKey ? true : InDefinition
        >
      }
    : Schema
type DefinitionsKey = '$defs' | 'definitions'

/** For `defineTool<Args>`: the handler accepts exactly `Args`, nothing narrower. */
interface AnnotatedDefinition<Args extends object> extends ToolDefinition<Args> {
  handler: (args: NoInfer<Args>, options: InvokeOptions) => unknown
}

/** Makes a tool from a function. Throws a ToolDefinitionError if it has no name. */
export function defineTool<Schema extends StandardSchema, Result>(
  definition: ToolDefinition<OutputOf<Schema>, Result, Schema>,
): Tool<InputOf<Schema>, Awaited<Result>>
export function defineTool<const Schema extends JsonSchema, Result>(
  definition: ToolDefinition<ArgsOf<Schema>, Result, Schema>,
): Tool<ArgsOf<Schema>, Awaited<Result>>
export function defineTool<Args extends object>(definition: AnnotatedDefinition<Args>): Tool<Args>
export function defineTool({ handler, ...definition }: ToolDefinition<object>): Tool {
  checkName(definition.name)
  return { ...EMPTY, ...definition, invoke: handler }
}

const KEYS =
  'name description schema invoke lc_name title inputEnvelope timeoutMs maxTimeoutMs readOnly idempotent ' +
  'destructive openWorld sentences outputSchema passedOn raw responseFormat'
/** Tools of the same shape are found and called faster. */
const EMPTY: object = Object.fromEntries(KEYS.split(' ').map(key => [key, undefined]))
