import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { installedFile } from '../../util/package-root.ts'
import { describeThrown } from '../../util/quietly.ts'
import type { DurableConfig, ToolpostConfig } from '../config.ts'
import type { CloseOptions, Configuration, Part } from '../configuration.ts'
import type { CreateDurable, Durable, DurableOptions, DurableStatus } from '../durable.ts'
import { stateFolder } from '../local-state.ts'
import type { ResolvedConfig as Description } from '../resolve.ts'
import { DurableRuns, type DurableRunsOptions } from './durable-runs.ts'

/** What a command wants from durable calls; the configuration provides the rest. */
export interface DurableWishes extends Pick<DurableOptions, 'role' | 'pool' | 'concurrency'> {
  /** Whether the process is long-lived, and keeps its name across restarts so that others wait for it. */
  stays?: boolean
  /** Creates the engine, instead of the installed package. */
  create?: CreateDurable | undefined
}

interface DurableParts extends Omit<DurableRunsOptions, 'isServer' | 'named' | 'publishes'> {
  logger: Logger
  configuration: Configuration
  say(text: string): void
}

/** A separate package, which Toolpost knows by name only. */
const DURABLE_PACKAGE = 'toolpost-durable'

/** The command to install the durable package; `undefined` if it is installed. */
export function missingDurable(): string | undefined {
  return installedFile(`${DURABLE_PACKAGE}/package.json`) ? undefined : `npm i ${DURABLE_PACKAGE}`
}

async function createInstalled(options: DurableOptions): Promise<Durable> {
  const install = missingDurable()
  if (install) throw new Error(`durable calls need another package; run: ${install}`)
  const { createDurable } = (await import(DURABLE_PACKAGE)) as { createDurable: CreateDurable }
  return createDurable(options)
}

/** The durable calls of a project. Nothing is loaded before `start`. */
export class ProjectDurable implements Part {
  readonly #parts: DurableParts
  readonly #wishes: DurableWishes
  /** Accepts calls and lists the runs; `undefined` until it is started. */
  runs: DurableRuns | undefined
  #starting: Promise<void> | undefined
  #problem: string | undefined
  #isClosed = false

  constructor(parts: DurableParts, wishes: DurableWishes = {}) {
    this.#parts = parts
    this.#wishes = wishes
  }

  /** Whether all calls of a tool are durable. */
  isNamed(name: string): boolean {
    const { tools } = this.#parts.executor
    const tool = tools.findTool(name)
    return (
      tool !== undefined && this.#named().some(each => fitsTool(each, tool, tools.originOf(tool)?.server))
    )
  }

  /** `undefined` if it is off or was not started. */
  status(): DurableStatus | undefined {
    if (this.#problem !== undefined) return { state: 'failed', text: this.#problem }
    return this.runs?.status()
  }

  /** Resolves when it is connected, has failed, or is off. Never rejects. */
  start(): Promise<void> {
    if (this.#isClosed || !configOf(this.#parts.configuration.config)) return Promise.resolve()
    this.#starting ??= this.#open()
    return this.#starting
  }

  /** Applies a changed configuration: the old engine is closed first. */
  async apply(after: Description, before: Description): Promise<void> {
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
    const { runs } = this
    this.runs = this.#starting = this.#problem = undefined
    await runs?.close(options)
  }

  readonly #named = () => configOf(this.#parts.configuration.config)?.tools ?? []

  async #open(): Promise<void> {
    const { configuration, onChange, say } = this.#parts
    const { create = createInstalled, role, concurrency } = this.#wishes
    const runs = new DurableRuns((async () => create(this.#engineOptions()))(), {
      ...this.#parts,
      isServer: name => Object.hasOwn(configuration.config.mcpServers ?? {}, name),
      named: this.#named,
      publishes: role !== 'gateway' && concurrency !== 0,
      // The shutdown of an engine is not reported.
      onChange: change => this.runs === runs && onChange(change),
    })
    this.runs = runs
    try {
      await runs.ready()
    } catch (error) {
      if (this.runs !== runs) return
      this.runs = undefined
      this.#problem = safeText(describeThrown(error))
      say(`⚠️ Durable calls are off: ${this.#problem}`)
    }
    onChange({ type: 'state' })
  }

  #engineOptions(): DurableOptions {
    const { configuration, executor, logger, say, use } = this.#parts
    const { config, file } = configuration.current
    const { databaseUrl, pool, concurrency, servers: limits, days } = configOf(config) ?? {}
    const { role, stays, create: _, ...wishes } = this.#wishes
    const folder = stateFolder(file)
    return {
      ...{ executor, role, limits, days, use, logger, onNotice: say },
      ...(databaseUrl === undefined ? { dataDir: join(folder, 'postgres') } : { databaseUrl }),
      ...(stays && { workerId: workerId(join(folder, 'worker-id')) }),
      ...{ pool: wishes.pool ?? pool, concurrency: wishes.concurrency ?? concurrency },
      servers: Object.keys(config.mcpServers ?? {}),
    }
  }
}

/** The id of a folder's worker, stable across restarts; a new one each time if it cannot be saved. */
function workerId(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const host = hostname().replace(/[^\w.-]/g, '')
  const id = kept || `${host.slice(0, 32)}-${randomBytes(3).toString('hex')}`
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (!kept) writeFileSync(file, `${id}\n`)
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
  const { tools: _, ...rest } = configOf(config) ?? {}
  return configOf(config) && { ...rest, queues: Object.keys(config.mcpServers ?? {}) }
}
