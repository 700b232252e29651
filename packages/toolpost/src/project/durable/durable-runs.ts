import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import type { Interceptor } from '../../executor/chain.ts'
import type { CallContext } from '../../executor/context.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { RunOptions } from '../../executor/options.ts'
import { questionOf } from '../../interceptors/approval.ts'
import { fingerprint } from '../../interceptors/canonical.ts'
import type { Approval, Approvals } from '../../interceptors/index.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { plainSchema } from '../../schema/limits.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { coalesced } from '../../util/clock.ts'
import type {
  AcceptedRun,
  Durable,
  DurableChange,
  DurableRunOptions,
  DurableStatus,
  OfferedTool,
  PublishedTool,
  RefusedRun,
  Run,
} from '../durable.ts'

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
  onChange(change: DurableChange): void
}

/** A tool of workers elsewhere, by its name and definition. */
interface Remote {
  definition: PublishedTool
  offers: readonly OfferedTool[]
}

/** After all servers of the configuration: this process's own tools keep their names. */
const ORDER = Number.MAX_SAFE_INTEGER - 1

/** The durable calls of a project: its own tools and those of workers elsewhere, approvals, and which calls become runs. */
export class DurableRuns {
  readonly #options: DurableRunsOptions
  readonly #created: Promise<Durable>
  #durable: Durable | undefined
  /** By their server in the list of tools, which is the first of their pools, and name. */
  #remotes = new Map<string, Remote>()
  readonly #published = new WeakMap<Tool, PublishedTool | undefined>()
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

  status(): DurableStatus {
    return this.#durable?.status() ?? { state: 'starting', text: 'loading' }
  }

  /** Resolves when the engine is connected or has failed; rejects if it cannot be loaded. */
  async ready(): Promise<void> {
    await (await this.#created).ready()
    this.#update()
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
    if (durable.status().state === 'starting')
      await Promise.race([this.ready(), sleep(limitMs, undefined, { ref: false })])
    if (!executor.tools.findTool(call.name)) await waitForTool(call.name, limitMs)
    const { tool, result, asks } = await executor.dryRun(call, direct)
    const remote = tool && this.#remoteOf(tool)
    const pool = remote?.offers.map(offer => offer.pool)
    const given = { ...options, ...(pool && { pool }), calledAs: call.name }
    if (!tool && key !== undefined) {
      // The run of a key may have been accepted when its tool was still there.
      const known = await durable.accept(call, { ...given, pool: [] })
      if ('id' in known || known.isConflict) return known
    }
    if (!tool || !result.success) return { refused: result }
    const name = remote?.definition.name ?? tool.name
    const accepted = await durable.accept({ ...call, name }, { ...given, approval: asks })
    if ('id' in accepted && accepted.approval) void this.#ask(accepted.approval, options)
    return accepted
  }

  /** Starts the call of a run again, on behalf of the new caller; `undefined` if there is no such run. */
  async again(id: string, options: RunOptions): Promise<AcceptedRun | RefusedRun | undefined> {
    const found = await this.durable.callOf(id)
    if (!found) return undefined
    const { timeoutMs, repair, pool } = found.options
    const name = this.nameOf({ tool: found.call.name, pool: typeof pool === 'string' ? pool : undefined })
    return this.accept({ ...found.call, name }, { timeoutMs, repair, ...options })
  }

  /** The name of a run's tool in this process. */
  nameOf({ tool, pool }: Pick<Run, 'tool' | 'pool'>): string {
    const isIt = ({ definition, offers }: Remote) =>
      definition.name === tool && offers.some(offer => offer.pool === pool)
    const [name] = this.#names(key => isIt(this.#remotes.get(key) as Remote))
    return name ?? tool
  }

  /** Running calls get up to `drainMs`; others take over the rest. */
  async close(options?: { drainMs?: number }): Promise<void> {
    const durable = await this.#created.catch(() => undefined)
    const [own, ...others] = this.#stops
    for (const stop of others) stop()
    this.#options.executor.tools.removeAll(this.#names(() => true))
    await durable?.close(options)
    own?.()
  }

  #connect(durable: Durable): Durable {
    const { executor, approvals, use, onChange } = this.#options
    this.#durable = durable
    const changes = coalesced(() => this.#update())
    this.#stops = [
      use(this.#interceptor),
      executor.tools.onChange(changes.soon),
      changes.stop,
      durable.onChange(change => {
        if (change.type === 'workers') this.#updateRemotes()
        if (change.type === 'approvals') approvals.showShared(change.approvals)
        onChange(change)
      }),
      approvals.share({ request: durable.requestApproval, decide: durable.decide }),
    ]
    return durable
  }

  /** Around every call, inside policy and limits: hands over the durable ones. Others cost nothing extra. */
  readonly #interceptor: Interceptor = async (call, next) => {
    const { tool, failure } = call
    if (!tool || failure || call.dryRun || this.#durable?.isRun(call)) return next()
    const remote = this.#remoteOf(tool)
    const isNamed = () => this.#options.named().some(pattern => fitsTool(pattern, tool, call.server))
    return remote || isNamed() ? this.#handOver(call, remote) : next()
  }

  async #handOver(call: CallContext, remote: Remote | undefined): Promise<ToolResult> {
    const { id, args, caller, signal, timeoutMs, ask, meta, options } = call
    const name = remote?.definition.name ?? call.name
    const approval = call.notes.approval as { decision?: string } | undefined
    const given = { origin: 'worker', caller, signal, timeoutMs, ask, meta, onProgress: options.onProgress }
    const result = await this.durable.run(
      { id, name, args },
      {
        ...{ ...given, approved: approval?.decision === 'approved' },
        ...(remote && { pool: remote.offers.map(({ pool }) => pool) }),
      },
    )
    if (result.run_id !== undefined) call.notes.run = result.run_id
    return { ...result, tool_name: call.name }
  }

  /** Also asks the person behind the call, if the channel allows it. If they do not decide, others still can. */
  async #ask(approval: Approval, { ask, origin: by }: DurableRunOptions): Promise<void> {
    try {
      const { tool, server, args } = approval
      const answer = await ask?.({ message: questionOf(approval), about: { tool, server, args } })
      if (answer?.action === 'accept') await this.durable.decide(approval.id, 'approve', { by })
      if (answer?.action === 'decline')
        await this.durable.decide(approval.id, 'deny', { by, reason: answer.reason })
    } catch {
      // They could not be asked; others still can.
    }
  }

  /** Publishes the tools of this process, and registers those of others. */
  #update(): void {
    if (this.#options.publishes) this.#durable?.publish(this.#own())
    this.#updateRemotes()
  }

  /** The tools this process offers to others, without those whose schema cannot be serialized. */
  #own(): PublishedTool[] {
    const { tools } = this.#options.executor
    const own = tools.getTools().filter(tool => !this.#remoteOf(tool))
    return own.flatMap(tool => {
      if (!this.#published.has(tool)) this.#published.set(tool, publishedTool(tool))
      const published = this.#published.get(tool)
      return published ? [{ ...published, server: tools.originOf(tool)?.server }] : []
    })
  }

  /** Where a tool runs; `undefined` if it runs here. */
  #remoteOf(tool: Tool): Remote | undefined {
    const origin = this.#options.executor.tools.originOf(tool)
    return origin && this.#remotes.get(keyOf(origin.server, origin.name))
  }

  /** The registered names of matching remote tools. */
  #names(fits: (key: string) => boolean): string[] {
    const { tools } = this.#options.executor
    const isFitting = (tool: Tool) => {
      const { server = '', name = '' } = tools.originOf(tool) ?? {}
      return this.#remotes.has(keyOf(server, name)) && fits(keyOf(server, name))
    }
    return tools.getTools().flatMap(tool => (isFitting(tool) ? tool.name : []))
  }

  /** Registers what others offer now, and this process does not have itself, as ordinary tools. */
  #updateRemotes(): void {
    const { executor, isServer, onBack } = this.#options
    const own = new Set(this.#own().map(({ name, fingerprint: print }) => keyOf(name, print)))
    const alike = new Map<string, Remote>()
    for (const offer of this.#durable?.offers() ?? []) {
      const key = keyOf(offer.tool.name, offer.tool.fingerprint)
      const { offers = [] } = alike.get(key) ?? {}
      if (!own.has(key)) alike.set(key, { definition: offer.tool, offers: [...offers, offer] })
    }
    const before = this.#remotes
    const now = new Map<string, Remote>()
    // Of two definitions in one pool, the live one wins.
    for (const remote of [...alike.values()].sort((a, b) => Number(isLive(a)) - Number(isLive(b))))
      now.set(keyOf(serverOf(remote, isServer), remote.definition.name), remote)
    const isChanged = (key: string) =>
      now.get(key)?.definition.fingerprint !== before.get(key)?.definition.fingerprint
    executor.tools.removeAll(this.#names(isChanged))
    this.#remotes = now
    const back = new Set<string>()
    for (const [key, remote] of now) {
      const server = serverOf(remote, isServer)
      const { fingerprint: _, server: __, ...definition } = remote.definition
      const invoke = () =>
        Promise.reject(new Error('the tool runs on a worker: call it through the executor'))
      if (isChanged(key)) executor.tools.addMcpTools([{ ...definition, invoke }], { server, order: ORDER })
      if (isLive(remote) && !isLive(before.get(key))) back.add(server)
    }
    for (const server of back) onBack(server)
  }
}

function keyOf(...parts: string[]): string {
  return parts.join('\0')
}

/** Whether an offer has live workers. */
function isLive(remote: Remote | undefined): boolean {
  return remote?.offers.some(({ workers }) => workers > 0) === true
}

/** What a remote tool belongs to in the list of tools. */
function serverOf({ offers }: Remote, isServer: (name: string) => boolean): string {
  const [pool = ''] = offers.map(offer => offer.pool).sort()
  return isServer(pool) ? `${pool}-pool` : pool
}

/** A tool in the form others can offer; `undefined` if its schema cannot be serialized. */
function publishedTool(tool: Tool): PublishedTool | undefined {
  const schema = plainSchema(() => jsonSchemaOf(tool))
  if (!schema) return undefined
  const { name, title, description = '', timeoutMs, maxTimeoutMs, sentences } = tool
  const { readOnly, idempotent, destructive, openWorld } = tool
  const definition = {
    ...{ name, title, description, schema, outputSchema: plainSchema(() => tool.outputSchema) },
    ...{ timeoutMs, maxTimeoutMs, readOnly, idempotent, destructive, openWorld, sentences },
  }
  return { ...definition, fingerprint: fingerprint(definition) }
}
