import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { installedFile, loadOptional } from '../../util/package-root.ts'
import { describeThrown } from '../../util/quietly.ts'
import type { CloseOptions, ProjectContext } from '../configuration.ts'
import type * as engine from '../durable.ts'
import { stateFolder } from '../local-state.ts'

/** What a command wants from durable calls; the configuration provides the rest. `create`: instead of the installed package. */
export interface DurableSettings extends Pick<engine.DurableOptions, 'role' | 'concurrency'> {
  /** Whether the process is long-lived, and keeps its name across restarts so that others wait for it. */
  stays?: boolean
  create?: engine.CreateDurable | undefined
}

interface DurableParts extends ProjectContext {
  approvals: Approvals
  /** Waits until a tool of a server that is starting has appeared, for at most `limitMs`. */
  waitForTool(name: string, limitMs: number): Promise<unknown>
}

type Accepted = engine.AcceptedRun | engine.RefusedRun
type ProjectApi = ReturnType<typeof durableRuns>['api']
export type DurableRuns = NonNullable<ReturnType<ProjectApi['durable']>>

const DURABLE_PACKAGE = 'toolpost-durable'
/** After all servers of the configuration: this process's own tools keep their names. */
const ORDER = Number.MAX_SAFE_INTEGER - 1

/** Where a tool runs; `undefined` if it runs here. */
const offerOf = (tool: Tool & { offer?: engine.OfferedTool }) => tool.offer

/**
 * The durable calls of a project, as configured when it was opened: its own tools and those of workers elsewhere, approvals, and
 * which calls become runs. Nothing is loaded before `start`.
 */
export function durableRuns(parts: DurableParts, settings: DurableSettings = {}) {
  const { approvals, configuration, executor, logger, say } = parts
  const { config, file } = configuration.current
  const { mcpServers = {} } = config
  const { tools } = executor
  const wanted = config.durable === true ? {} : config.durable || {}
  const { tools: named = [], servers = {}, ...configured } = wanted
  let starting: Promise<void> | undefined
  let created: Promise<engine.Durable> | undefined
  let durable: engine.Durable | undefined
  let problem: string | undefined
  const stops: (() => void)[] = []
  const published = new WeakMap<Tool, engine.PublishedTool | undefined>()

  /** Whether all calls of a tool are durable. */
  function isNamed(name: string): boolean {
    const tool = tools.findTool(name)
    return named.some(pattern => tool && fitsTool(pattern, tool, tools.originOf(tool)?.server))
  }

  async function create(): Promise<engine.Durable> {
    const { stays, role, concurrency = configured.concurrency } = settings
    const load = () => loadOptional("'durable'", [DURABLE_PACKAGE], () => import(DURABLE_PACKAGE))
    const create: engine.CreateDurable = settings.create ?? (await load()).createDurable
    const folder = stateFolder(file)
    const isHere = (server: string) => server === 'local' || Object.hasOwn(mcpServers, server)
    durable = create({
      ...configured,
      executor,
      logger,
      onNotice: say,
      role,
      concurrency,
      limits: Object.fromEntries(Object.entries(servers).filter(([server]) => isHere(server))),
      ...(configured.databaseUrl === undefined && { dataDir: join(folder, 'postgres') }),
      ...(stays && { workerId: `${hostname().slice(0, 32)}-${fingerprint(folder).slice(0, 6)}` }),
      handsOver: ({ tool }) => {
        const offer = tool && offerOf(tool)
        if (offer) return { name: offer.tool.name, pool: offer.pool }
        return tool && isNamed(tool.name) ? { name: tool.name } : undefined
      },
      onChange: change => {
        // The shutdown of an engine is not reported.
        if (!created) return
        if (change.type === 'workers') updateRemotes()
        if (change.type === 'approvals') approvals.showShared(change.approvals)
        parts.tell('durable', change)
      },
    })
    const changes = coalesced(update)
    const sharing = { request: durable.requestApproval, decide: durable.decide }
    stops.push(tools.onChange(changes.soon), changes.stop, approvals.share(sharing))
    // Before it connects: a run that is taken over must find that somebody has its tool.
    update()
    return durable
  }

  async function begin(): Promise<void> {
    created = create()
    try {
      await (await created).ready()
      update()
    } catch (error) {
      created = undefined
      problem = safeText(describeThrown(error))
      say(`⚠️ Durable calls are off: ${problem}`)
    }
    parts.tell('durable', { type: 'state' })
  }

  function update(): void {
    if (settings.role !== 'gateway' && settings.concurrency !== 0) durable?.publish(own())
    updateRemotes()
  }

  /** The tools this process offers to others, without those whose schema cannot be serialized. */
  function own(): engine.PublishedTool[] {
    return tools.getTools().flatMap(tool => {
      if (offerOf(tool)) return []
      if (!published.has(tool)) published.set(tool, publishedTool(tool))
      const definition = published.get(tool)
      return definition ? [{ ...definition, server: tools.originOf(tool)?.server }] : []
    })
  }

  /** Registers what others offer now, and this process does not have itself, as ordinary tools. */
  function updateRemotes(): void {
    const definitionOf = ({ name, fingerprint: print }: engine.PublishedTool) => `${name}\0${print}`
    const nameOf = ({ pool, tool }: engine.OfferedTool) => `${pool}\0${tool.name}`
    const here = new Set(own().map(definitionOf))
    const offers = (created && durable?.offers())?.filter(({ tool }) => !here.has(definitionOf(tool))) ?? []
    const missing = new Map(offers.map(offer => [nameOf(offer), offer]))
    const gone = tools.getTools().filter(tool => {
      const before = offerOf(tool)
      const now = before && missing.get(nameOf(before))
      const isSame = now && now.tool.fingerprint === before.tool.fingerprint
      return before && !(isSame && missing.delete(nameOf(before)))
    })
    tools.removeAll(gone.map(({ name }) => name))
    for (const offer of missing.values()) {
      const { fingerprint: _, server: __, ...definition } = offer.tool
      const invoke = () =>
        Promise.reject(new Error('the tool runs on a worker: call it through the executor'))
      const tool = { ...definition, invoke, offer }
      const server = Object.hasOwn(mcpServers, offer.pool) ? `${offer.pool}-pool` : offer.pool
      tools.addMcpTools([tool], { server, order: ORDER })
    }
  }

  /** Also asks the person behind the call, if the channel allows it. If they do not decide, others still can. */
  async function askCaller(approval: Approval, { ask, origin: by }: RunOptions): Promise<void> {
    const { id, tool, server, args } = approval
    const answer = await ask?.({ message: questionOf(approval), about: { tool, server, args } })
    if (answer?.action === 'accept') await durable?.decide(id, 'approve', { by })
    if (answer?.action === 'decline') await durable?.decide(id, 'deny', { by, reason: answer.reason })
  }

  const runs = {
    /** Throws while it is being loaded. */
    get durable(): engine.Durable {
      if (!durable) throw new Error('durable calls are starting')
      return durable
    },

    /**
     * Accepts a call as a run, or resolves to why not. A call that cannot run is answered immediately and leaves nothing
     * behind; one that a person must approve waits for that first. Waits for what is still starting. Never rejects.
     */
    async accept(call: ToolCall, options: engine.DurableRunOptions): Promise<Accepted> {
      const { accept } = (await created) ?? runs.durable
      const limitMs = executor.timeoutMsOf(call.name, options)
      const late = () => sleep(limitMs, undefined, { ref: false })
      if (!tools.findTool(call.name)) await Promise.race([parts.waitForTool(call.name, limitMs), late()])
      const { tool, result, asks } = await executor.dryRun(call, options)
      const offer = tool && offerOf(tool)
      const given = { ...options, calledAs: call.name, approval: asks, pool: offer?.pool }
      // The run of a key may have been accepted when its tool was still there.
      const isKnown = !tool && options.key !== undefined
      const known = isKnown ? await accept(call, { ...given, pool: '' }) : undefined
      if (known && ('id' in known || known.isConflict)) return known
      if (!tool || !result.success) return { refused: result }
      const accepted = await accept({ ...call, name: offer?.tool.name ?? tool.name }, given)
      if ('id' in accepted && accepted.approval) askCaller(accepted.approval, options).catch(() => {})
      return accepted
    },

    /** Starts the call of a run again, on behalf of the new caller; `undefined` if there is no such run. */
    async again(id: string, options: RunOptions): Promise<Accepted | undefined> {
      const known = await runs.durable.callOf(id)
      if (!known) return undefined
      const { timeoutMs, repair, pool } = known.options
      const name = runs.nameOf({ tool: known.call.name, pool })
      return runs.accept({ ...known.call, name }, { timeoutMs, repair, ...options })
    },

    /** The name of a run's tool in this process. */
    nameOf({ tool: name, pool }: Pick<engine.Run, 'tool' | 'pool'>): string {
      const isIt = (offer?: engine.OfferedTool) => offer?.tool.name === name && offer.pool === pool
      return tools.getTools().find(tool => isIt(offerOf(tool)))?.name ?? name
    },
  }

  /** Resolves when it is connected, has failed, or is off. Never rejects. */
  async function start(): Promise<void> {
    if (config.durable) starting ??= begin()
    await starting
  }

  /** Takes no more runs, and gives running ones up to `drainMs`; other workers take over the rest. Nothing starts again. */
  async function close(options?: CloseOptions): Promise<void> {
    starting ??= Promise.resolve()
    await created?.catch(() => {})
    created = undefined
    for (const stop of stops.splice(0)) stop()
    updateRemotes()
    await durable?.close(options)
  }

  /** `undefined` if they are off or were not started. */
  const current = () => created && runs
  return {
    /** Of the project. */
    api: { durable: current, startDurable: start, closeDurable: close, isAlwaysDurable: isNamed },
    close,
    status(): engine.DurableStatus | undefined {
      if (problem !== undefined) return { state: 'failed', text: problem }
      return created && (durable?.status() ?? { state: 'starting', text: 'loading' })
    },
  }
}

/** The command to install the durable package; `undefined` if it is installed. */
export function missingDurable(): string | undefined {
  return installedFile(`${DURABLE_PACKAGE}/package.json`) ? undefined : `npm i ${DURABLE_PACKAGE}`
}

/** A tool in the form others can offer; `undefined` if its schema cannot be serialized. */
function publishedTool(tool: Tool): engine.PublishedTool | undefined {
  const schema = plainSchema(() => jsonSchemaOf(tool))
  const { name, title, description = '', timeoutMs, maxTimeoutMs, sentences } = tool
  const { readOnly, idempotent, destructive, openWorld } = tool
  const traits = { title, timeoutMs, maxTimeoutMs, readOnly, idempotent, destructive, openWorld, sentences }
  const outputSchema = plainSchema(() => tool.outputSchema)
  const definition = schema && { name, description, schema, outputSchema, ...traits }
  return definition && { ...definition, fingerprint: fingerprint(definition) }
}
