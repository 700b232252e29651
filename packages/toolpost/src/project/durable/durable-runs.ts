import type { ToolCall } from '../../call/tool-call.ts'
import type { Interceptor } from '../../executor/chain.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { RunOptions } from '../../executor/options.ts'
import type { Approvals } from '../../interceptors/index.ts'
import { coalesced } from '../../runtime/coalesced.ts'
import type { AcceptedRun, Durable, DurableChange, DurableRunOptions, RefusedRun, Run } from '../durable.ts'
import { DurableDispatch } from './durable-dispatch.ts'
import { RemoteTools } from './remote-tools.ts'

export interface DurableRunsOptions {
  executor: ToolExecutor
  approvals: Approvals
  use(interceptor: Interceptor): () => void
  /** Whether this project has an MCP server of that name. */
  isServer(name: string): boolean
  /** Tools whose calls are always durable. */
  named(): readonly string[]
  /** Called when a pool has workers again. */
  onBack(pool: string): void
  /** Whether others may run calls here. */
  publishes: boolean
}

/** The durable calls of a project while it has an engine: tools, approvals and calls in both directions. */
export class DurableRuns {
  readonly durable: Durable
  readonly #calls: DurableDispatch
  readonly #remote: RemoteTools
  readonly #options: DurableRunsOptions
  readonly #stops: (() => void)[]

  constructor(durable: Durable, options: DurableRunsOptions) {
    const { executor, approvals, use } = options
    const { tools } = executor
    this.durable = durable
    this.#options = options
    this.#remote = new RemoteTools({ ...options, tools, durable })
    this.#calls = new DurableDispatch({ ...options, durable, remote: this.#remote })
    const changes = coalesced(() => this.update())
    this.#stops = [
      use(this.#calls.interceptor),
      tools.onChange(changes.soon),
      changes.stop,
      durable.onChange(change => this.#follow(change)),
      approvals.share({
        request: (call, asked) => durable.requestApproval(call, asked),
        decide: (id, decision, about) => durable.decide(id, decision, about),
      }),
    ]
  }

  /** Accepts a call as a run, or resolves to why not. Never rejects. */
  accept(call: ToolCall, options: DurableRunOptions): Promise<AcceptedRun | RefusedRun> {
    return this.#calls.accept(call, options)
  }

  /** Starts the call of a run again, on behalf of the new caller; `undefined` if there is no such run. */
  async again(id: string, options: RunOptions): Promise<AcceptedRun | RefusedRun | undefined> {
    const found = await this.durable.callOf(id)
    if (!found) return undefined
    const { call, options: given } = found
    const name = this.nameOf({ tool: call.name, pool: given.pool })
    return this.accept({ ...call, name }, { timeoutMs: given.timeoutMs, repair: given.repair, ...options })
  }

  /** The name of a run's tool in this process. */
  nameOf({ tool, pool }: Pick<Run, 'tool' | 'pool'>): string {
    return (pool !== undefined && this.#remote.nameFor(pool, tool)) || tool
  }

  /** Publishes the tools of this process, and registers those of others. */
  update(): void {
    if (this.#options.publishes) this.durable.publish(this.#remote.own())
    this.#remote.update()
  }

  /** Running calls get up to `drainMs`; others take over the rest. */
  async close(options?: { drainMs?: number }): Promise<void> {
    const [own, ...others] = this.#stops
    for (const stop of others) stop()
    this.#remote.clear()
    await this.durable.close(options)
    own?.()
  }

  #follow(change: DurableChange): void {
    if (change.type === 'workers') this.#remote.update()
    if (change.type === 'approvals') this.#options.approvals.showShared(change.approvals)
  }
}
