import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Interceptor } from '../../executor/chain.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { Approvals } from '../../interceptors/index.ts'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { installedFile } from '../../runtime/missing-package.ts'
import { describeThrown } from '../../runtime/quietly.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import type { DurableConfig, ToolpostConfig } from '../config.ts'
import type { Configuration } from '../configuration.ts'
import type { CreateDurable, Durable, DurableChange, DurableOptions, DurableStatus } from '../durable.ts'
import type { CloseOptions, Part } from '../part.ts'
import type { ResolvedConfig as Description } from '../resolve.ts'
import { DurableRuns } from './durable-runs.ts'
import { workerId } from './worker-id.ts'

/** What a command wants from durable calls; the configuration provides the rest. */
export interface DurableWishes extends Pick<DurableOptions, 'role' | 'pool' | 'concurrency'> {
  /** Whether the process is long-lived, and keeps its name across restarts so that others wait for it. */
  stays?: boolean
  /** Creates the engine, instead of the installed package. */
  create?: CreateDurable | undefined
}

export interface DurableParts {
  executor: ToolExecutor
  approvals: Approvals
  logger: Logger
  configuration: Configuration
  /** Adds an interceptor inside all others; returns a function that removes it. */
  use(interceptor: Interceptor): () => void
  say(text: string): void
  onChange(change: DurableChange): void
  /** Called when a pool has workers again. */
  onBack(pool: string): void
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
  #runs: DurableRuns | undefined
  #starting: Promise<void> | undefined
  #problem: string | undefined
  #isClosed = false
  /** Stops listening to the engine. */
  #stop: (() => void) | undefined

  constructor(parts: DurableParts, wishes: DurableWishes = {}) {
    this.#parts = parts
    this.#wishes = wishes
  }

  get isConfigured(): boolean {
    return configOf(this.#parts.configuration.config) !== undefined
  }

  /** Whether all calls of a tool are durable. */
  isNamed(name: string): boolean {
    const { tools } = this.#parts.executor
    const tool = tools.findTool(name)
    const patterns = configOf(this.#parts.configuration.config)?.tools ?? NO_TOOLS
    return tool !== undefined && patterns.some(each => fitsTool(each, tool, tools.originOf(tool)?.server))
  }

  /** Accepts calls and lists the runs; `undefined` until it is started. */
  get runs(): DurableRuns | undefined {
    return this.#runs
  }

  /** `undefined` if it is off or was not started. */
  status(): DurableStatus | undefined {
    if (this.#problem !== undefined) return { state: 'failed', text: this.#problem }
    if (this.#runs) return this.#runs.durable.status()
    return this.#starting && { state: 'starting', text: 'loading' }
  }

  /** Resolves when it is connected, has failed, or is off. Never rejects. */
  start(): Promise<void> {
    if (this.#isClosed || !this.isConfigured) return Promise.resolve()
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
    // A start in progress ends by being closed.
    const runs = this.#runs
    if (!runs) await this.#starting
    // Its own shutdown is not reported.
    this.#stop?.()
    await (runs ?? this.#runs)?.close(options)
    this.#runs = this.#starting = this.#problem = undefined
  }

  async #open(): Promise<void> {
    const { configuration, executor, approvals, use, onBack, onChange, say } = this.#parts
    const { create = createInstalled, role, concurrency } = this.#wishes
    const isServer = (name: string) => Object.hasOwn(configuration.config.mcpServers ?? {}, name)
    const named = () => configOf(configuration.config)?.tools ?? NO_TOOLS
    const publishes = role !== 'gateway' && concurrency !== 0
    const options = { executor, approvals, use, isServer, named, onBack, publishes }
    try {
      const durable = await create(this.#engineOptions())
      this.#stop = durable.onChange(onChange)
      this.#runs = new DurableRuns(durable, options)
      await durable.ready()
      this.#runs?.update()
    } catch (error) {
      this.#problem = safeText(describeThrown(error))
      say(`⚠️ Durable calls are off: ${this.#problem}`)
    }
    onChange({ type: 'state' })
  }

  #engineOptions(): DurableOptions {
    const { configuration, executor, logger, say, use } = this.#parts
    const { config, file } = configuration.current
    const { databaseUrl, pool, concurrency, limits, days } = configOf(config) ?? {}
    const { role, stays, create: _, ...wishes } = this.#wishes
    const folder = join(file === undefined ? process.cwd() : dirname(file), '.toolpost')
    return {
      executor,
      ...(databaseUrl === undefined ? { dataDir: join(folder, 'postgres') } : { databaseUrl }),
      ...(stays && { workerId: workerId(join(folder, 'worker-id')) }),
      role,
      pool: wishes.pool ?? pool,
      concurrency: wishes.concurrency ?? concurrency,
      limits,
      days,
      use,
      logger,
      onNotice: say,
    }
  }
}

const NO_TOOLS: readonly string[] = []

/** `undefined` if durable calls are off. */
function configOf({ durable }: ToolpostConfig): DurableConfig | undefined {
  if (durable === undefined || durable === false) return undefined
  return durable === true ? {} : durable
}

/** The part of the configuration the engine is created with: which tools are durable is looked up on every call. */
function engineOf(config: ToolpostConfig): DurableConfig | undefined {
  const { tools: _, ...rest } = configOf(config) ?? {}
  return configOf(config) && rest
}
