import type { JsonSchema } from '../schema/json-schema.ts'
import { isObjectLike, ownValue } from '../util/guards.ts'
import { compiledFile, installedFile, MissingPackageError } from '../util/package-root.ts'
import { ToolDefinitionError } from './check-tool.ts'
import { isolate } from './isolated.ts'
import { defineTool, type InvokeOptions, type Tool } from './tool.ts'

/** What a declared tool does: return a fixed value, or call a handler by name. */
export type Implementation =
  | { type: 'mock'; mock_response?: unknown }
  | { type: 'builtin'; handler: string }
  | { type: 'internal'; handler: string }

/** A tool declared in JSON. */
export interface ToolDeclaration {
  name: string
  description: string
  parameters?: JsonSchema
  implementation: Implementation
  timeout_ms?: number
  /** The longest a call may take, whatever its caller asks for. */
  max_timeout_ms?: number
  read_only?: boolean
  idempotent?: boolean
  destructive?: boolean
  /** Whether it interacts with external entities, such as the web. */
  open_world?: boolean
  sentences?: readonly string[]
}

/** A function behind a declared tool. Written as a method so that handlers may declare narrower arguments. */
export type Handler = { handle(args: object, options: InvokeOptions): unknown }['handle']

/** A builtin that runs in a separate process, because it could spin or exhaust the memory. */
export interface IsolatedHandler {
  module: string | URL
  export: string
  isolated: true
}

export interface DeclareOptions {
  /** Handlers for declarations of type `builtin`; `math_eval` and `echo` are always included. */
  builtins?: Readonly<Record<string, Handler | IsolatedHandler>>
  /** The host program's handlers for declarations of type `internal`. */
  internals?: Readonly<Record<string, Handler>>
}

let isolatedMath: Handler | undefined

/** `{ expression }` → `{ result }`, with mathjs, which is loaded in a child process and nowhere else. */
async function mathEval(args: object, options: InvokeOptions): Promise<unknown> {
  // Checked here, because the child process could only report that it failed.
  if (!isolatedMath && !installedFile('mathjs/lib/browser/math.js'))
    throw new MissingPackageError('math_eval', ['mathjs'])
  const module = compiledFile('tools/builtins/math-eval-child.js')
  isolatedMath ??= isolate({ name: 'math_eval', module, export: 'evaluate' })
  return isolatedMath(args, options)
}

/** The handlers that are always available to declarations of type `builtin`. */
export const defaultBuiltins = { math_eval: mathEval, echo: (args: object) => ({ echo: args }) }

/**
 * Makes tools from JSON declarations. Throws on an invalid declaration, which is a configuration mistake; a missing
 * handler fails the call when the tool is called.
 */
export function declareTools(
  declarations: readonly ToolDeclaration[],
  { builtins = {}, internals = {} }: DeclareOptions = {},
): Tool[] {
  const prepared = Object.entries({ ...defaultBuiltins, ...builtins }).map(prepare)
  const handlers = { builtin: Object.fromEntries(prepared), internal: internals }
  return declarations.map(
    ({ name, description, parameters, implementation, idempotent, sentences, ...more }) =>
      defineTool({
        name,
        description,
        idempotent,
        sentences,
        schema: parameters ?? { type: 'object', properties: {} },
        handler: handlerOf(name, implementation, handlers),
        timeoutMs: more.timeout_ms,
        maxTimeoutMs: more.max_timeout_ms,
        readOnly: more.read_only,
        destructive: more.destructive,
        openWorld: more.open_world,
      }),
  )
}

type Handlers = Readonly<Record<'builtin' | 'internal', Readonly<Record<string, Handler>>>>

function handlerOf(tool: string, implementation: Implementation, handlers: Handlers): Handler {
  if (!isObjectLike(implementation)) throw new ToolDefinitionError(`Tool '${tool}' has no implementation`)
  const { type } = implementation
  if (type === 'mock') return () => structuredClone(implementation.mock_response)
  if (type !== 'builtin' && type !== 'internal')
    throw new ToolDefinitionError(
      `Tool '${tool}' has an invalid implementation type '${type}'; expected one of mock, builtin, internal`,
    )
  const { handler: name } = implementation
  const missing = `${type === 'builtin' ? 'Builtin' : 'Internal'} handler '${name}' not found`
  return ownValue(handlers[type], String(name)) ?? (() => Promise.reject(new Error(missing)))
}

function prepare([name, builtin]: [string, Handler | IsolatedHandler]): [string, Handler] {
  if (typeof builtin === 'function') return [name, builtin]
  if (builtin.isolated === true && builtin.module && builtin.export)
    return [name, isolate({ name, ...builtin })]
  throw new ToolDefinitionError(
    `Builtin '${name}' cannot be isolated: a plain function cannot run in another process. Pass { module, export, isolated: true }`,
  )
}
