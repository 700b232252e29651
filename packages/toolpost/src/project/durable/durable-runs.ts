import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import type { Interceptor } from '../../executor/chain.ts'
import type { CallContext } from '../../executor/context.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { RunOptions } from '../../executor/options.ts'
import { questionOf } from '../../interceptors/approval.ts'
import type { Approval, Approvals } from '../../interceptors/index.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { coalesced } from '../../util/coalesced.ts'
import type { AcceptedRun, Durable, DurableChange, DurableRunOptions, RefusedRun, Run } from '../durable.ts'
import { isApproved, RemoteTools } from './remote-tools.ts'

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
  /** Waits until a tool of a server that is starting has appeared, for at most `limitMs`. */
  waitForTool(name: string, limitMs: number): Promise<unknown>
  /** Whether others may run calls here. */
  publishes: boolean
}

/** The durable calls of a project: its own tools and those of workers elsewhere, approvals, and which calls become runs. */
export class DurableRuns {
  readonly #options: DurableRunsOptions
  readonly #created: Promise<Durable>
  #durable: Durable | undefined
  #remote: RemoteTools | undefined
  #stops: (() => void)[] = []

  /** `created` is the engine once its package is loaded. */
  constructor(created: Promise<Durable>, options: DurableRunsOptions) {
    this.#options = options
    this.#created = created.then(durable => this.#connect(durable))
    this.#created.catch(() => {})
  }

  /** Throws while the engine is being loaded. */
  get durable(): Durable {
    if (!this.#durable) throw new Error('durable calls are starting')
    return this.#durable
  }

  get isLoaded(): boolean {
    return this.#durable !== undefined
  }

  /** Resolves when the engine is connected or has failed; rejects if it cannot be loaded. */
  async ready(): Promise<void> {
    await (await this.#created).ready()
    this.update()
  }

  /**
   * Accepts a call as a run, or resolves to why not. A call that cannot run is answered immediately and leaves nothing
   * behind; one that a person must approve waits for that first. Waits for what is still starting. Never rejects.
   */
  async accept(call: ToolCall, options: DurableRunOptions): Promise<AcceptedRun | RefusedRun> {
    const { executor, waitForTool } = this.#options
    const { key, pool: _, approval: __, ...direct } = options
    const durable = await this.#created
    const limitMs = executor.timeoutMsOf(call.name, options)
    if (durable.status().state === 'starting') await within(this.ready(), limitMs)
    if (!executor.tools.findTool(call.name)) await waitForTool(call.name, limitMs)
    const { tool, result, asks } = await executor.dryRun(call, direct)
    const remote = tool && this.#remote?.find(tool)
    const pool = remote?.offers.map(offer => offer.pool)
    const name = remote?.definition.name ?? tool?.name ?? call.name
    const given = { ...options, ...(pool && { pool }), calledAs: call.name }
    if (!tool) return (key !== undefined && (await this.#known(call, given))) || { refused: result }
    if (!result.success) return { refused: result }
    const accepted = await durable.accept({ ...call, name }, { ...given, approval: asks })
    if ('id' in accepted && accepted.approval) void this.#ask(accepted.approval, options)
    return accepted
  }

  /** Starts the call of a run again, on behalf of the new caller; `undefined` if there is no such run. */
  async again(id: string, options: RunOptions): Promise<AcceptedRun | RefusedRun | undefined> {
    const found = await this.durable.callOf(id)
    if (!found) return undefined
    const { call, options: given } = found
    const pool = typeof given.pool === 'string' ? given.pool : undefined
    const name = this.nameOf({ tool: call.name, pool })
    return this.accept({ ...call, name }, { timeoutMs: given.timeoutMs, repair: given.repair, ...options })
  }

  /** The name of a run's tool in this process. */
  nameOf({ tool, pool }: Pick<Run, 'tool' | 'pool'>): string {
    return (pool !== undefined && this.#remote?.nameFor(pool, tool)) || tool
  }

  /** Publishes the tools of this process, and registers those of others. */
  update(): void {
    if (this.#options.publishes && this.#remote) this.#durable?.publish(this.#remote.own())
    this.#remote?.update()
  }

  /** Running calls get up to `drainMs`; others take over the rest. */
  async close(options?: { drainMs?: number }): Promise<void> {
    const durable = await this.#created.catch(() => undefined)
    const [own, ...others] = this.#stops
    for (const stop of others) stop()
    this.#remote?.clear()
    await durable?.close(options)
    own?.()
  }

  #connect(durable: Durable): Durable {
    const { executor, approvals, use } = this.#options
    this.#durable = durable
    this.#remote = new RemoteTools({ ...this.#options, tools: executor.tools, durable })
    const changes = coalesced(() => this.update())
    this.#stops = [
      use(this.#interceptor),
      executor.tools.onChange(changes.soon),
      changes.stop,
      durable.onChange(change => this.#follow(change)),
      approvals.share({
        request: (call, asked) => durable.requestApproval(call, asked),
        decide: (id, decision, about) => durable.decide(id, decision, about),
      }),
    ]
    return durable
  }

  /** Around every call, inside policy and limits: hands over the durable ones. Others cost nothing extra. */
  readonly #interceptor: Interceptor = async (call, next) => {
    const { tool, failure } = call
    if (!tool || failure || call.dryRun || this.#durable?.isRun(call)) return next()
    if (this.#remote?.find(tool)) return this.#remote.note(call, next)
    const isNamed = this.#options.named().some(pattern => fitsTool(pattern, tool, call.server))
    return isNamed ? this.#handOver(call) : next()
  }

  async #handOver(call: CallContext): Promise<ToolResult> {
    const { id, name, args, caller, signal, timeoutMs, ask, meta } = call
    const options = { origin: 'worker', caller, signal, timeoutMs, ask, meta, approved: isApproved(call) }
    const result = await this.durable.run(
      { id, name, args },
      { ...options, onProgress: call.options.onProgress },
    )
    if (result.run_id !== undefined) call.notes.run = result.run_id
    return result
  }

  /** The run of a key that was accepted when its tool was still there. */
  async #known(call: ToolCall, options: DurableRunOptions): Promise<AcceptedRun | RefusedRun | undefined> {
    const found = await this.durable.accept(call, { ...options, pool: [] })
    return 'id' in found || found.isConflict ? found : undefined
  }

  /** Also asks the person behind the call, if the channel allows it. If they do not decide, others still can. */
  async #ask(approval: Approval, { ask, origin }: DurableRunOptions): Promise<void> {
    try {
      if (!ask) return
      const { tool, args } = approval
      const answer = await ask({ message: questionOf(approval), about: { tool, args } })
      const decisions = { accept: 'approve', decline: 'deny' } as const
      const decision = decisions[answer.action as keyof typeof decisions]
      if (decision) await this.durable.decide(approval.id, decision, { by: origin, reason: answer.reason })
    } catch {
      // They could not be asked; others still can.
    }
  }

  #follow(change: DurableChange): void {
    if (change.type === 'workers') this.#remote?.update()
    if (change.type === 'approvals') this.#options.approvals.showShared(change.approvals)
  }
}

async function within(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>(resolve => {
    timer = setTimeout(resolve, limitMs)
  })
  await Promise.race([work, limit]).finally(() => clearTimeout(timer))
}
