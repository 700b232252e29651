import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import type { Interceptor } from '../../executor/chain.ts'
import type { CallContext } from '../../executor/context.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import type { AcceptedRun, Durable, DurableRunOptions, RefusedRun } from '../durable.ts'
import { liveOffer, type RemoteTools } from './remote-tools.ts'

export interface DurableDispatchOptions {
  executor: ToolExecutor
  durable: Durable
  remote: RemoteTools
  /** Tools whose calls are always durable. */
  named(): readonly string[]
}

/** Decides which calls become runs, and turns them into runs. */
export class DurableDispatch {
  readonly #options: DurableDispatchOptions
  #patterns: readonly string[] = []
  #isNamed = new WeakMap<Tool, boolean>()

  constructor(options: DurableDispatchOptions) {
    this.#options = options
  }

  /**
   * Accepts a call as a run. A call that could not run is answered immediately and leaves nothing behind. For a tool of this
   * process, the executor applies every stage when the run executes; for a remote tool, this process's policy decides first.
   */
  async accept(call: ToolCall, options: DurableRunOptions): Promise<AcceptedRun | RefusedRun> {
    const { executor, durable, remote } = this.#options
    const { key: _, pool: __, approval: ___, ...direct } = options
    const { tool, result, asks } = await executor.dryRun(call, direct)
    if (!tool || !result.success) return { refused: result }
    const elsewhere = remote.find(tool)
    if (!elsewhere) return durable.accept({ ...call, name: tool.name }, options)
    const { offers, definition } = elsewhere
    // Even if nobody is left to run it, its key may belong to a run that has ended.
    const { pool } = liveOffer(elsewhere) ?? offers[0] ?? {}
    return durable.accept({ ...call, name: definition.name }, { ...options, pool, approval: asks })
  }

  /** Around every call, inside policy and limits: hands over the durable ones. Others cost nothing extra. */
  readonly interceptor: Interceptor = (call, next) => {
    const { tool, failure } = call
    const { durable, remote } = this.#options
    if (!tool || failure || call.dryRun || durable.isRun(call)) return next()
    if (remote.find(tool)) return remote.note(call, next)
    return this.#isDurable(tool, call.server) ? this.#handOver(call) : next()
  }

  #isDurable(tool: Tool, server: string | undefined): boolean {
    const patterns = this.#options.named()
    if (patterns !== this.#patterns) this.#isNamed = new WeakMap()
    this.#patterns = patterns
    let isNamed = this.#isNamed.get(tool)
    if (isNamed === undefined) {
      isNamed = patterns.some(pattern => fitsTool(pattern, tool, server))
      this.#isNamed.set(tool, isNamed)
    }
    return isNamed
  }

  async #handOver(call: CallContext): Promise<ToolResult> {
    const { id, name, args, caller, signal, timeoutMs, ask, meta } = call
    const { onProgress } = call.options
    const options = { origin: 'worker', caller, signal, timeoutMs, ask, meta, onProgress }
    const result = await this.#options.durable.run({ id, name, args }, options)
    if (result.run_id !== undefined) call.notes.run = result.run_id
    return result
  }
}
