import type { ToolExecutor } from '../executor/executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { Catalog } from '../mcp/catalog.ts'
import type { LoggedMessage, Logins, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { Listeners } from '../runtime/listeners.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { ReloadChanges } from './changes.ts'
import type { ToolpostConfig } from './config.ts'
import type { DurableRuns } from './durable/durable-runs.ts'
import type { DurableChange } from './durable.ts'
import type { ExampleHome } from './example-home.ts'
import type { Following } from './follow-files.ts'
import type { ModelInfo } from './model-choice.ts'
import type { CloseOptions, Part } from './part.ts'
import type { KeepHistoryOptions } from './project-history.ts'
import type { ProjectEvents, ProjectOptions, ProjectStatus } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'
import { createServices, type Services } from './services.ts'
import type { VoiceInput } from './voice.ts'

/**
 * A running toolpost.json: owns servers, model and voice. Nothing is loaded or started before it is needed; the parts are
 * independent, and none delays another.
 */
export class Project {
  readonly tools: ToolManager
  readonly executor: ToolExecutor
  /** Keeps results too long for a model, unless they are cut. */
  readonly bigResults: BigResults | undefined
  readonly logger: Logger
  /** Calls waiting for a person's approval. */
  readonly approvals: Approvals
  /** What the MCP servers offer besides tools. */
  readonly catalog: Catalog
  readonly #services: Services
  #closed: Promise<void> | undefined

  /** Throws a ConfigError on an unusable tool. */
  constructor(resolved: ResolvedConfig, options: ProjectOptions) {
    this.#services = createServices(this, resolved, options)
    const { tools, executor, bigResults, logger, approvals, catalog } = this.#services
    this.tools = tools
    this.executor = executor
    this.bigResults = bigResults
    this.logger = logger
    this.approvals = approvals
    this.catalog = catalog
  }

  get config(): ToolpostConfig {
    return this.#services.configuration.config
  }

  /** Where the configuration was read from; `undefined` for the built-in example. */
  get file(): string | undefined {
    return this.#services.configuration.current.file
  }

  /** Answers questions; early ones wait for the model and the tools they may need. */
  get client(): AiClient {
    return this.#services.model.client
  }

  /** The client that answers, chosen now if necessary. */
  model = (): Promise<ChosenClient> => this.#services.model.choose()

  /** The models to choose from: the current, configured and discovered ones. */
  models = (): Promise<ModelInfo[]> => this.#services.model.list()

  /** The client of one of those models; `undefined` for any other. */
  clientOf = (model: string): Promise<AiClient | undefined> => this.#services.model.clientOf(model)

  /** The current speech-to-text input, if any. */
  voice = (): VoiceInput | undefined => this.#services.voice?.input

  /** The recorded calls, if any are recorded. */
  history = (): History | undefined => this.#services.history.current

  /** Records all calls from now on. Resolves when the file is open or cannot be opened; never rejects. */
  keepHistory = (options?: KeepHistoryOptions): Promise<void> => this.#services.history.keep(options)

  /** Accepts and lists durable calls; `undefined` until started. */
  durable = (): DurableRuns | undefined => this.#services.durable.runs

  /** Calls `listener` on every change of a durable run, worker or the database; returns a function that stops it. */
  onDurable = (listener: (change: DurableChange) => void): (() => void) => this.on('durable', listener)

  /** Whether the configuration makes all calls of a tool durable. */
  isAlwaysDurable = (tool: string): boolean => this.#services.durable.isNamed(tool)

  /** Resolves when durable calls are ready, have failed, or are not configured; never rejects. */
  startDurable = (): Promise<void> => this.#services.durable.start()

  /** Starts everything in parallel. Resolves when nothing is still starting; never rejects. */
  async start(): Promise<void> {
    await Promise.all([
      this.ready(),
      this.#services.model.choose().catch(() => {}),
      this.#services.voice?.start(),
    ])
  }

  /**
   * Starts the servers and durable calls. Resolves when all of them, or the named server, are ready or have failed; never
   * rejects.
   */
  async ready(name?: string): Promise<ServerStatus[]> {
    const durable = name === undefined ? this.startDurable() : undefined
    await this.#services.servers.ready(name)
    await durable
    if (name === undefined) this.#services.control.checkNames()
    return this.status().servers.filter(server => name === undefined || server.name === name)
  }

  /** Like `ready` for servers, but waits only for the first attempt of each, and for at most `limitMs`. */
  tried = (name?: string, limitMs?: number): Promise<void> => this.#services.servers.tried(name, limitMs)

  /** Patterns in rules and clients that match no tool, in words. */
  unmatchedPatterns = (): string[] => this.#services.control.unmatched()

  status(): ProjectStatus {
    return {
      servers: this.#services.control.withBreakers(this.#services.servers.status()),
      problem: this.#services.servers.problem,
      model: this.#services.model.chosen,
      voice: this.#services.voice?.status() ?? [],
      history: this.#services.history.current?.status(),
      durable: this.#services.durable.status(),
    }
  }

  /** Returns a function that removes the listener. */
  readonly on: Listeners<ProjectEvents>['on'] = (event, listener) =>
    this.#services.listeners.on(event, listener)

  /** The last messages exchanged with a server. */
  messages(server: string, options: { after?: number | undefined } = {}): LoggedMessage[] {
    return this.#services.servers.messages(server, options)
  }

  /** Stops a server and starts it again. Resolves when it is ready or has failed. */
  async restart(server: string): Promise<void> {
    await this.#services.servers.restart(server)
    this.#services.control.resetBreaker(server)
  }

  /** Stops a server until it is restarted. */
  stop = (server: string): Promise<void> => this.#services.servers.stop(server)

  /** How a server is configured. */
  entryOf = (server: string): Promise<ServerEntry | undefined> => this.#services.servers.entryOf(server)

  /** The logins to the servers, once those have been started. */
  logins = (): Logins | undefined => this.#services.servers.logins

  /** The home of the built-in example, started now if necessary; `undefined` if there is none. */
  exampleHome = (): Promise<ExampleHome | undefined> => this.#services.servers.home()

  /** Asks for the inputs of the servers, once. Without an answer, only the server that needs it fails. */
  answerInputs = (): Promise<void> => this.#services.configuration.answerInputs()

  /**
   * Waits for a tool that is not registered yet, for at most `limitMs`; for a command that makes one call. Resolves to the
   * name under which it is registered, which may be given as `server__tool` too. Problems of other servers are reported only
   * if it is not found.
   */
  async waitForTool(given: string, limitMs?: number): Promise<string> {
    let name = given
    const isThere = () => this.tools.findTool(name) !== undefined
    if (isThere()) return name
    await this.#services.reports.unless(isThere, async () => {
      name = await this.#services.servers.waitForTool(given, limitMs)
      if (!isThere()) await this.startDurable()
    })
    return name
  }

  /**
   * Reads the configuration again: added servers start, removed ones stop, changed ones restart, and the rest is untouched;
   * tools, policy, clients, limits, model and history follow. Resolves to what changed once it is applied; `ready` waits for
   * the servers. On a mistake, rejects with a ConfigError and changes nothing. One at a time. With `quietly`, says nothing if
   * nothing changed.
   */
  async reload(options?: { quietly?: boolean }): Promise<ReloadChanges> {
    const changes = await this.#services.configuration.reload(this.#services.parts, options)
    if (this.#services.servers.isStarted) void this.ready()
    return changes
  }

  /** Follows the files of the configuration, and reloads when they change. Mistakes are reported and change nothing. */
  follow = (): Following => this.#services.configuration.follow(options => this.reload(options))

  /** Adds a check that runs before a reload: if it throws, the reload is rejected. Returns a function that removes it. */
  addCheck(check: (config: ToolpostConfig) => void): () => void {
    const part: Part = {
      prepare: ({ config }) => {
        check(config)
        return undefined
      },
    }
    this.#services.parts.add(part)
    return () => void this.#services.parts.delete(part)
  }

  /** Ends everything, including what is still starting, even if a part fails to end. Nothing can be started afterwards. */
  close(options?: CloseOptions): Promise<void> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  /** Closes only the voice gateway, so that it stops listening while calls in flight finish. */
  closeVoice = async (options?: CloseOptions): Promise<void> => this.#services.voice?.close(options)

  /** Takes no more durable runs, and gives running ones up to `drainMs`; other workers take over the rest. */
  closeDurable = (options?: CloseOptions): Promise<void> => this.#services.durable.close(options)

  async #close(options?: CloseOptions): Promise<void> {
    this.#services.closing.abort()
    for (const part of this.#services.parts) {
      try {
        await part.close?.(options)
      } catch (error) {
        this.logger.warn({ error: describeThrown(error) }, 'A part of the project could not be closed')
      }
    }
  }
}
