import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ToolCall } from '../../call/tool-call.ts'
import type { RunOptions } from '../../executor/options.ts'
import { questionOf } from '../../interceptors/approval.ts'
import { fingerprint } from '../../interceptors/canonical.ts'
import type { Approval, Approvals } from '../../interceptors/index.ts'
import { safeText } from '../../logging/safe-value.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { plainSchema } from '../../schema/limits.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { coalesced } from '../../util/clock.ts'
import { installedFile } from '../../util/package-root.ts'
import { describeThrown } from '../../util/quietly.ts'
import type { DurableConfig, ToolpostConfig } from '../config.ts'
import type { CloseOptions, Part, ProjectContext } from '../configuration.ts'
import type * as engine from '../durable.ts'
import { stateFolder } from '../local-state.ts'
import type { ResolvedConfig } from '../resolve.ts'

/** What a command wants from durable calls; the configuration provides the rest. */
export interface DurableSettings extends Pick<engine.DurableOptions, 'role' | 'pool' | 'concurrency'> {
  /** Whether the process is long-lived, and keeps its name across restarts so that others wait for it. */
  stays?: boolean
  /** Creates the engine, instead of the installed package. */
  create?: engine.CreateDurable | undefined
}

interface DurableParts extends ProjectContext, Pick<engine.DurableOptions, 'use'> {
  approvals: Approvals
  onChange(change: engine.DurableChange): void
  /** Called when a pool has workers again. */
  onBack(pool: string): void
  /** Waits until a tool of a server that is starting has appeared, for at most `limitMs`. */
  waitForTool(name: string, limitMs: number): Promise<unknown>
}

type Accepted = engine.AcceptedRun | engine.RefusedRun

/** A separate package, which Toolpost knows by name only. */
const DURABLE_PACKAGE = 'toolpost-durable'
/** After all servers of the configuration: this process's own tools keep their names. */
const ORDER = Number.MAX_SAFE_INTEGER - 1

/**
 * The durable calls of a project: its own tools and those of workers elsewhere, approvals, and which calls become runs. Nothing
 * is loaded before `start`.
 */
export class DurableRuns implements Part {
  readonly #parts: DurableParts
  readonly #settings: DurableSettings
  #starting: Promise<void> | undefined
  #created: Promise<engine.Durable> | undefined
  #durable: engine.Durable | undefined
  #problem: string | undefined
  #isClosed = false
  /** Tools of workers elsewhere, by server and name. */
  #remotes = new Map<string, engine.OfferedTool>()
  readonly #published = new WeakMap<Tool, engine.PublishedTool | undefined>()
  #stops: (() => void)[] = []

  constructor(parts: DurableParts, settings: DurableSettings = {}) {
    this.#parts = parts
    this.#settings = settings
  }

  /** `undefined` if it is off or was not started. */
  get runs(): DurableRuns | undefined {
    return this.#created && this
  }

  /** Throws while the engine is being loaded. */
  get durable(): engine.Durable {
    if (!this.#durable) throw new Error('durable calls are starting')
    return this.#durable
  }

  status(): engine.DurableStatus | undefined {
    if (this.#problem !== undefined) return { state: 'failed', text: this.#problem }
    return this.#created && (this.#durable?.status() ?? { state: 'starting', text: 'loading' })
  }

  /** Whether all calls of a tool are durable. */
  isNamed(name: string): boolean {
    const { executor, configuration } = this.#parts
    const tool = executor.tools.findTool(name)
    const server = tool && executor.tools.originOf(tool)?.server
    const { tools = [] } = configOf(configuration.config) ?? {}
    return tools.some(pattern => tool && fitsTool(pattern, tool, server))
  }

  /** Resolves when it is connected, has failed, or is off. Never rejects. */
  start(): Promise<void> {
    if (this.#isClosed || !configOf(this.#parts.configuration.config)) return Promise.resolve()
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    const created = this.#create()
    this.#created = created
    try {
      await (await created).ready()
      if (this.#created === created) this.#update()
    } catch (error) {
      if (this.#created !== created) return
      this.#created = undefined
      this.#problem = safeText(describeThrown(error))
      this.#parts.say(`⚠️ Durable calls are off: ${this.#problem}`)
    }
    this.#parts.onChange({ type: 'state' })
  }

  async #create(): Promise<engine.Durable> {
    const { approvals, executor, configuration, logger, say: onNotice, use } = this.#parts
    const { stays, create = await installed(), ...settings } = this.#settings
    const { config, file } = configuration.current
    const { databaseUrl, servers: limits, tools: _, ...configured } = configOf(config) ?? {}
    const folder = stateFolder(file)
    const durable = create({
      ...{ executor, use, logger, onNotice, limits, ...configured, role: settings.role },
      ...{
        pool: settings.pool ?? configured.pool,
        concurrency: settings.concurrency ?? configured.concurrency,
      },
      ...(databaseUrl === undefined ? { dataDir: join(folder, 'postgres') } : { databaseUrl }),
      ...(stays && { workerId: workerId(join(folder, 'worker-id')) }),
      servers: Object.keys(config.mcpServers ?? {}),
      handsOver: ({ tool }) => {
        const remote = tool && this.#remoteOf(tool)
        if (remote) return { name: remote.tool.name, pool: remote.pool }
        return tool && this.isNamed(tool.name) ? { name: tool.name } : undefined
      },
      onChange: change => {
        // The shutdown of an engine is not reported.
        if (!this.#created) return
        if (change.type === 'workers') this.#updateRemotes()
        if (change.type === 'approvals') approvals.showShared(change.approvals)
        this.#parts.onChange(change)
      },
    })
    const changes = coalesced(() => this.#update())
    const sharing = { request: durable.requestApproval, decide: durable.decide }
    this.#stops = [executor.tools.onChange(changes.soon), changes.stop, approvals.share(sharing)]
    this.#durable = durable
    return durable
  }

  /** Applies a changed configuration: the old engine is closed first. */
  async apply(after: ResolvedConfig, before: ResolvedConfig): Promise<void> {
    if (isDeepStrictEqual(engineOf(before.config), engineOf(after.config))) return
    const wasStarted = this.#starting !== undefined
    await this.#end()
    if (wasStarted) void this.start()
    this.#parts.onChange({ type: 'state' })
  }

  /** Takes no more runs, and gives running ones up to `drainMs`; other workers take over the rest. */
  async close(options?: CloseOptions): Promise<void> {
    this.#isClosed = true
    await this.#end(options)
  }

  async #end(options?: CloseOptions): Promise<void> {
    const created = this.#created
    this.#created = this.#starting = this.#problem = undefined
    const durable = await created?.catch(() => undefined)
    for (const stop of this.#stops.splice(0)) stop()
    this.#updateRemotes()
    await durable?.close(options)
    this.#durable = undefined
  }

  /**
   * Accepts a call as a run, or resolves to why not. A call that cannot run is answered immediately and leaves nothing
   * behind; one that a person must approve waits for that first. Waits for what is still starting. Never rejects.
   */
  async accept(call: ToolCall, options: engine.DurableRunOptions): Promise<Accepted> {
    const { executor, waitForTool } = this.#parts
    const durable = (await this.#created) ?? this.durable
    const limitMs = executor.timeoutMsOf(call.name, options)
    if (!executor.tools.findTool(call.name))
      await Promise.race([waitForTool(call.name, limitMs), sleep(limitMs, undefined, { ref: false })])
    const { tool, result, asks } = await executor.dryRun(call, options)
    const remote = tool && this.#remoteOf(tool)
    const given = { ...options, calledAs: call.name, approval: asks, pool: remote?.pool }
    // The run of a key may have been accepted when its tool was still there.
    const isKnown = !tool && options.key !== undefined
    const known = isKnown ? await durable.accept(call, { ...given, pool: '' }) : undefined
    if (known && ('id' in known || known.isConflict)) return known
    if (!tool || !result.success) return { refused: result }
    const accepted = await durable.accept({ ...call, name: remote?.tool.name ?? tool.name }, given)
    if ('id' in accepted && accepted.approval) void this.#ask(accepted.approval, options)
    return accepted
  }

  /** Starts the call of a run again, on behalf of the new caller; `undefined` if there is no such run. */
  async again(id: string, options: RunOptions): Promise<Accepted | undefined> {
    const { call, options: given } = (await this.durable.callOf(id)) ?? {}
    if (!call || !given) return undefined
    const { timeoutMs, repair, pool } = given
    return this.accept(
      { ...call, name: this.nameOf({ tool: call.name, pool }) },
      { timeoutMs, repair, ...options },
    )
  }

  /** The name of a run's tool in this process. */
  nameOf({ tool: name, pool }: Pick<engine.Run, 'tool' | 'pool'>): string {
    const isIt = (tool: Tool) => {
      const remote = this.#remoteOf(tool)
      return remote?.tool.name === name && remote.pool === pool
    }
    return this.#parts.executor.tools.getTools().find(isIt)?.name ?? name
  }

  /** Also asks the person behind the call, if the channel allows it. If they do not decide, others still can. */
  async #ask(approval: Approval, { ask, origin: by }: engine.DurableRunOptions): Promise<void> {
    const { id, tool, server, args } = approval
    try {
      const answer = await ask?.({ message: questionOf(approval), about: { tool, server, args } })
      if (answer?.action === 'accept') await this.durable.decide(id, 'approve', { by })
      if (answer?.action === 'decline') await this.durable.decide(id, 'deny', { by, reason: answer.reason })
    } catch {
      // They could not be asked; others still can.
    }
  }

  /** Publishes the tools of this process, and registers those of others. */
  #update(): void {
    const { role, concurrency } = this.#settings
    if (role !== 'gateway' && concurrency !== 0) this.#durable?.publish(this.#own())
    this.#updateRemotes()
  }

  /** The tools this process offers to others, without those whose schema cannot be serialized. */
  #own(): engine.PublishedTool[] {
    const { tools } = this.#parts.executor
    const own = tools.getTools().filter(tool => !this.#remoteOf(tool))
    return own.flatMap(tool => {
      if (!this.#published.has(tool)) this.#published.set(tool, publishedTool(tool))
      const published = this.#published.get(tool)
      return published ? [{ ...published, server: tools.originOf(tool)?.server }] : []
    })
  }

  /** Where a tool runs; `undefined` if it runs here. */
  #remoteOf(tool: Tool): engine.OfferedTool | undefined {
    return this.#remotes.get(this.#keyOf(tool))
  }

  #keyOf(tool: Tool): string {
    const { server, name } = this.#parts.executor.tools.originOf(tool) ?? {}
    return `${server}\0${name}`
  }

  /** Registers what others offer now, and this process does not have itself, as ordinary tools. */
  #updateRemotes(): void {
    const { executor, configuration, onBack } = this.#parts
    const { tools } = executor
    const serverOf = (pool: string) =>
      Object.hasOwn(configuration.config.mcpServers ?? {}, pool) ? `${pool}-pool` : pool
    const same = ({ name, fingerprint: print }: engine.PublishedTool) => `${name}\0${print}`
    const own = new Set(this.#own().map(same))
    const offers =
      (this.#created && this.#durable?.offers())?.filter(({ tool }) => !own.has(same(tool))) ?? []
    const before = this.#remotes
    const now = new Map(offers.map(offer => [`${serverOf(offer.pool)}\0${offer.tool.name}`, offer]))
    const isOther = (key: string) => now.get(key)?.tool.fingerprint !== before.get(key)?.tool.fingerprint
    const gone = tools.getTools().filter(tool => this.#remoteOf(tool) && isOther(this.#keyOf(tool)))
    tools.removeAll(gone.map(({ name }) => name))
    this.#remotes = now
    const back = new Set<string>()
    for (const [key, { pool, workers, tool }] of now) {
      const server = serverOf(pool)
      const { fingerprint: _, server: __, ...definition } = tool
      const invoke = () =>
        Promise.reject(new Error('the tool runs on a worker: call it through the executor'))
      if (isOther(key)) tools.addMcpTools([{ ...definition, invoke }], { server, order: ORDER })
      if (workers > 0 && !before.get(key)?.workers) back.add(server)
    }
    for (const server of back) onBack(server)
  }
}

/** The command to install the durable package; `undefined` if it is installed. */
export function missingDurable(): string | undefined {
  return installedFile(`${DURABLE_PACKAGE}/package.json`) ? undefined : `npm i ${DURABLE_PACKAGE}`
}

async function installed(): Promise<engine.CreateDurable> {
  const install = missingDurable()
  if (install) throw new Error(`durable calls need another package; run: ${install}`)
  return (await import(DURABLE_PACKAGE)).createDurable
}

/** A tool in the form others can offer; `undefined` if its schema cannot be serialized. */
function publishedTool(tool: Tool): engine.PublishedTool | undefined {
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

/** The id of a folder's worker, stable across restarts; a new one each time if it cannot be saved. */
function workerId(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const id = `${hostname().slice(0, 32)}-${randomBytes(3).toString('hex')}`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${id}\n`)
  } catch {
    // The folder is not writable.
  }
  return id
}

/** `undefined` if durable calls are off. */
function configOf({ durable }: ToolpostConfig): DurableConfig | undefined {
  return durable === true ? {} : durable || undefined
}

/** What the engine is created with; which tools are durable is looked up on every call. */
function engineOf(config: ToolpostConfig): object | undefined {
  const durable = configOf(config)
  return durable && { ...durable, tools: undefined, queues: Object.keys(config.mcpServers ?? {}) }
}
