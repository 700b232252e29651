import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { Catalog } from '../mcp/catalog.ts'
import type { Logins, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { Listeners } from '../runtime/listeners.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { ReloadChanges } from './changes.ts'
import type { DurableRuns } from './durable/durable-runs.ts'
import type { DurableChange } from './durable.ts'
import type { ExampleHome } from './example-home.ts'
import type { Following } from './follow-files.ts'
import { type Ground, inOrder, makeGround, makeParts, type Parts } from './make-parts.ts'
import type { ModelInfo } from './model-choice.ts'
import type { Description } from './open-project.ts'
import type { CloseOptions, Part } from './part.ts'
import type { KeepOptions } from './project-history.ts'
import type { ProjectEvents, ProjectOptions, ProjectStatus } from './project-options.ts'
import type { VoiceInput } from './voice.ts'
import { waitForTool } from './wait-for-tool.ts'

/**
 * What a toolpost.json describes, alive: it owns servers, model and voice. Nothing is loaded or started before it is
 * needed; each part is on its own and holds up no other.
 */
export class Project {
  readonly tools: ToolManager
  readonly executor: ToolExecutor
  /** Keeps results that are too long for a model, unless they are cut. */
  readonly bigResults: BigResults | undefined
  readonly logger: Logger
  /** Calls that a person is asked about. */
  readonly approvals: Approvals
  /** What the MCP servers have beside tools. */
  readonly catalog: Catalog
  readonly #ground: Ground
  readonly #parts: Parts
  /** In the order in which they follow the configuration, and end. */
  readonly #inOrder: Set<Part>
  #closed: Promise<void> | undefined

  /** Throws a ConfigError on a tool that cannot be used. */
  constructor(description: Description, options: ProjectOptions) {
    this.#ground = makeGround(description, options)
    this.#parts = makeParts(this, this.#ground, options)
    this.#inOrder = inOrder(this.#ground, this.#parts)
    const { tools, executor, bigResults, logger, approvals, catalog } = this.#ground
    this.tools = tools
    this.executor = executor
    this.bigResults = bigResults
    this.logger = logger
    this.approvals = approvals
    this.catalog = catalog
  }

  get config(): ToolpostConfig {
    return this.#parts.configuration.config
  }

  /** Where the configuration was read from; `undefined` for the built-in example. */
  get file(): string | undefined {
    return this.#parts.configuration.current.file
  }

  /** Answers questions; those that come early wait for the model and the tools that they may need. */
  get client(): AiClient {
    return this.#parts.model.client
  }

  /** The client that answers, chosen now if it was not before. */
  model = (): Promise<ChosenClient> => this.#parts.model.choose()

  /** The models to choose from: what is used, configured and found. */
  models = (): Promise<ModelInfo[]> => this.#parts.model.list()

  /** Answers with one of those; `undefined` for any other. */
  clientOf = (model: string): Promise<AiClient | undefined> => this.#parts.model.clientOf(model)

  /** What turns speech into text now, if anything does. */
  voice = (): VoiceInput | undefined => this.#parts.voice?.input

  /** The calls that are kept, if they are. */
  history = (): History | undefined => this.#parts.history.current

  /** Keeps all calls from now on. Resolves when their file is open, or cannot be opened; never rejects. */
  keepHistory = (options?: KeepOptions): Promise<void> => this.#parts.history.keep(options)

  /** What accepts durable calls and knows of them, once it was started. */
  durable = (): DurableRuns | undefined => this.#parts.durable.runs

  /** Told of every durable run, worker and change of the database; returns a function that stops it. */
  onDurable = (listener: (change: DurableChange) => void): (() => void) => this.on('durable', listener)

  /** Whether the configuration makes all calls of a tool durable. */
  isAlwaysDurable = (tool: string): boolean => this.#parts.durable.isNamed(tool)

  /** Resolves when durable calls can be made, or cannot be, or are not configured; never rejects. */
  startDurable = (): Promise<void> => this.#parts.durable.start()

  /** Starts everything side by side. Resolves when nothing is starting any more; never rejects. */
  async start(): Promise<void> {
    await Promise.all([this.ready(), this.#parts.model.choose().catch(() => {}), this.#parts.voice?.start()])
  }

  /**
   * Starts the servers, and what durable calls need. Resolves when every one, or the server named, is ready or has failed;
   * never rejects.
   */
  async ready(name?: string): Promise<ServerStatus[]> {
    const durable = name === undefined ? this.startDurable() : undefined
    await this.#parts.servers.ready(name)
    await durable
    if (name === undefined) this.#parts.control.checkNames()
    return this.status().servers.filter(server => name === undefined || server.name === name)
  }

  /** Waits for the server of a tool, as `waitForTool` does; problems of the others are reported only if that one is not ready. */
  waitForServer = (server: string, tool: string, limitMs?: number): Promise<void> =>
    this.#parts.servers.waitFor(server, tool, limitMs)

  /** As `ready` for servers, but one that fails counts after its first attempt, and none is waited for longer than `limitMs`. */
  tried = (name?: string, limitMs?: number): Promise<void> => this.#parts.servers.tried(name, limitMs)

  status(): ProjectStatus {
    return {
      servers: this.#parts.control.withBreakers(this.#parts.servers.status()),
      problem: this.#parts.servers.problem,
      model: this.#parts.model.chosen,
      voice: this.#parts.voice?.status() ?? [],
      history: this.#parts.history.current?.status(),
      durable: this.#parts.durable.status(),
    }
  }

  /** Calls `listener` on every such event; returns a function that stops it. */
  readonly on: Listeners<ProjectEvents>['on'] = (event, listener) =>
    this.#ground.listeners.on(event, listener)

  /** Ends a server and starts it again. Resolves when that has succeeded or failed. */
  async restart(server: string): Promise<void> {
    await this.#parts.servers.restart(server)
    this.#parts.control.resetBreaker(server)
  }

  /** Ends a server until it is restarted. */
  stop = (server: string): Promise<void> => this.#parts.servers.stop(server)

  /** How a server is configured. */
  entryOf = (server: string): Promise<ServerEntry | undefined> => this.#parts.servers.entryOf(server)

  /** The logins at the servers, once those were started. */
  logins = (): Logins | undefined => this.#parts.servers.logins

  /** The home of the built-in example, started now if it was not before; `undefined` if there is none. */
  exampleHome = (): Promise<ExampleHome | undefined> => this.#parts.servers.home()

  /** Asks, once, for what the servers want to know. Without an answer, only the server that wants it fails. */
  answerInputs = (): Promise<void> => this.#parts.configuration.answerInputs()

  /**
   * Waits for a tool that is not there yet, for `limitMs` at most; for a command that makes one call. Problems of other
   * servers are reported only if it is not found.
   */
  async waitForTool(name: string, limitMs?: number): Promise<void> {
    const isThere = () => this.tools.findTool(name) !== undefined
    if (isThere()) return
    await this.#ground.reports.unless(isThere, async () => {
      const mcp = await this.#parts.servers.start()
      const found = mcp && (await waitForTool(name, { tools: this.tools, mcp, limitMs }))
      if (!found) await this.startDurable()
    })
  }

  /**
   * Reads the configuration again: servers that were added start, removed ones end, changed ones restart, and nothing else is
   * touched; tools, policy, clients, limits, model and history follow. Resolves to what changed as soon as that holds; `ready`
   * waits for the servers. If it has a mistake, rejects with a ConfigError and changes nothing. One at a time. With `quietly`,
   * nothing is said if nothing changed.
   */
  async reload(options?: { quietly?: boolean }): Promise<ReloadChanges> {
    const changes = await this.#parts.configuration.reload(this.#inOrder, options)
    if (this.#parts.servers.isStarted) void this.ready()
    return changes
  }

  /** Follows the files of the configuration, and reloads when they change. Mistakes are told, and change nothing. */
  follow = (): Following => this.#parts.configuration.follow(options => this.reload(options))

  /** Adds a check that runs before a reload: an error that it throws is a configuration mistake. Returns a function that removes it. */
  addCheck(check: (config: ToolpostConfig) => void): () => void {
    const part: Part = { check: ({ config }) => check(config) }
    this.#inOrder.add(part)
    return () => void this.#inOrder.delete(part)
  }

  /** Ends what was started, also what is still starting. Nothing can be started afterwards. */
  close(options?: CloseOptions): Promise<void> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  /** Ends the voice gateway alone: nothing more is heard while calls under way are waited for. */
  closeVoice = async (options?: CloseOptions): Promise<void> => this.#parts.voice?.close(options)

  /** Takes no more durable runs, and gives those under way up to `drainMs`; the others' workers take what is left. */
  closeDurable = (options?: CloseOptions): Promise<void> => this.#parts.durable.close(options)

  async #close(options?: CloseOptions): Promise<void> {
    this.#ground.closing.abort()
    for (const part of this.#inOrder) await part.close?.(options)
  }
}
