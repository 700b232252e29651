import type { JsonSchema } from '../schema/json-schema.ts'
import type { InvokeOptions, Progress, Tool } from '../tools/tool.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import { valueOfResult } from './call-result.ts'
import { ProgressRelay } from './progress-relay.ts'
import type { ServerEntry } from './server-entry.ts'
import { ServerLostError } from './server-failure.ts'
import type { Answer, ServerLink } from './server-link.ts'
import type { McpToolDefinition } from './tool-definition.ts'

/** What a tool needs of its server. */
export interface ToolServer {
  readonly entry: ServerEntry
  /** The connection, if there is one now. */
  readonly link: ServerLink | undefined
  /** The connection after the attempt to get it back that is under way; `undefined` if that fails. */
  reconnected(): Promise<ServerLink | undefined>
  /** The error of a call that cannot be made, or not be finished, for `cause`; for what ails the server if left out. */
  unavailable(cause?: string): ToolFailureError
}

const CALLER_GAVE_UP = 'The caller gave up'
const NO_OPTIONS: Partial<InvokeOptions> = {}

/** A tool of an MCP server. It belongs to the server and not to a connection: it works again after a restart. */
export class McpTool implements Tool {
  readonly name: string
  readonly description: string | undefined
  readonly schema: JsonSchema
  readonly title: string | undefined
  readonly outputSchema: JsonSchema | undefined
  readonly timeoutMs: number | undefined
  readonly maxTimeoutMs: number | undefined
  readonly readOnly: boolean | undefined
  readonly idempotent: boolean | undefined
  readonly destructive: boolean | undefined
  readonly sentences: readonly string[] | undefined
  readonly #definition: McpToolDefinition
  readonly #server: ToolServer

  constructor(definition: McpToolDefinition, server: ToolServer) {
    const { name, description, title, annotations } = definition
    const { timeoutMs, maxTimeoutMs, sentences } = server.entry
    this.#definition = definition
    this.#server = server
    this.name = name
    this.description = description ?? title ?? annotations?.title
    this.schema = definition.inputSchema
    this.title = title ?? annotations?.title
    this.outputSchema = definition.outputSchema
    this.timeoutMs = timeoutMs
    this.maxTimeoutMs = maxTimeoutMs
    this.readOnly = hint(annotations?.readOnlyHint)
    this.idempotent = hint(annotations?.idempotentHint)
    this.destructive = hint(annotations?.destructiveHint)
    this.sentences = sentences && Object.hasOwn(sentences, name) ? sentences[name] : undefined
  }

  /** Calls the tool on its server. Rejects with the server's own words, or with `unavailable` while it is gone. */
  invoke(args: object, options: Partial<InvokeOptions> = NO_OPTIONS): Promise<unknown> {
    const { link } = this.#server
    if (!link) return Promise.reject(this.#server.unavailable())
    return this.#callOn(link, args, options).then(valueOfResult, error => this.#recover(error, args, options))
  }

  #callOn(link: ServerLink, args: object, options: Partial<InvokeOptions>): Promise<unknown> {
    const report = options.wantsProgress ? options.reportProgress : undefined
    if (!report) return this.#send(link, args, options)
    const relay = new ProgressRelay(progress => report.call(options, progress))
    const onProgress = (progress: Progress) => relay.report(progress)
    return this.#send(link, args, options, onProgress).finally(() => relay.flush())
  }

  #send(
    link: ServerLink,
    args: object,
    options: Partial<InvokeOptions>,
    onProgress?: (progress: Progress) => void,
  ): Promise<unknown> {
    const answer = link.call({ tool: this.#definition, args, onProgress })
    if (options.onAbort) options.onAbort(() => answer.cancel(CALLER_GAVE_UP))
    else if (options.signal) return untilAborted(answer, options.signal)
    return answer.result
  }

  /** A call whose server went away is repeated once, if that cannot do anything twice. */
  async #recover(error: unknown, args: object, options: Partial<InvokeOptions>): Promise<unknown> {
    if (!(error instanceof ServerLostError)) throw error
    if (!this.readOnly && !this.idempotent) throw this.#server.unavailable(lossOf(error, true))
    const link = await this.#server.reconnected()
    if (!link || isAborted(options)) throw this.#server.unavailable(lossOf(error, false))
    try {
      return valueOfResult(await this.#callOn(link, args, options))
    } catch (again) {
      throw again instanceof ServerLostError ? this.#server.unavailable(lossOf(again, false)) : again
    }
  }
}

/** Only a real `true` may make a call run twice, whatever a server writes there. */
function hint(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function lossOf({ message, neverSent }: ServerLostError, isWrite: boolean): string {
  if (neverSent) return message
  return isWrite
    ? `${message} during the call; the outcome of the call is unknown`
    : `${message} during the call`
}

function isAborted(options: Partial<InvokeOptions>): boolean {
  let aborted = false
  if (options.onAbort) {
    options.onAbort(() => {
      aborted = true
    })
    return aborted
  }
  return options.signal?.aborted === true
}

/** For callers other than the executor, which has its own way of giving up. */
function untilAborted(answer: Answer, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      answer.cancel(CALLER_GAVE_UP)
      reject(signal.reason)
    }
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    answer.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
