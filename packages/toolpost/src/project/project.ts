import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import { Catalog } from '../mcp/catalog.ts'
import type { Logins, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import { Listeners } from '../runtime/listeners.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { assemble, noteSecrets, replaceTools, toolsOf } from './assemble.ts'
import { changesBetween, differs, newsOf, type ReloadChanges } from './changes.ts'
import { Control } from './control.ts'
import type { DurableRuns } from './durable/durable-runs.ts'
import { ProjectDurable } from './durable/project-durable.ts'
import type { DurableChange } from './durable.ts'
import type { ExampleHome } from './example-home.ts'
import { type Following, followFiles } from './follow-files.ts'
import { withAnswers } from './inputs.ts'
import { ModelChoice, type ModelInfo } from './model-choice.ts'
import type { Description } from './open-project.ts'
import { type KeepOptions, ProjectHistory } from './project-history.ts'
import type { ProjectEvents, ProjectOptions, ProjectStatus } from './project-options.ts'
import { Reports } from './reports.ts'
import { sampling } from './sampling.ts'
import { Servers } from './servers.ts'
import { Voice, type VoiceInput } from './voice.ts'
import { inTime, waitForServer, waitForTool } from './wait-for-tool.ts'

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
  readonly #options: ProjectOptions
  readonly #listeners: Listeners<ProjectEvents>
  readonly #control: Control
  readonly #model: ModelChoice
  readonly #voice: Voice<Project> | undefined
  readonly #reports: Reports
  /** What the MCP servers have beside tools. */
  readonly catalog = new Catalog()
  readonly #history = new ProjectHistory()
  readonly #closing = new AbortController()
  readonly #servers: Servers
  readonly #durable: ProjectDurable
  readonly #checks = new Set<(config: ToolpostConfig) => void>()
  #description: Description
  #reloading: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | undefined

  /** Throws a ConfigError on a tool that cannot be used. */
  constructor(description: Description, options: ProjectOptions) {
    this.#description = description
    this.#options = options
    this.logger = options.logger(description.config)
    this.#reports = new Reports(options.say, description.notices, options.looksForItself)
    this.#listeners = new Listeners((event, error) =>
      this.logger.warn({ event, error: String(error) }, 'A listener of the project failed'),
    )
    noteSecrets(description.config)
    const { tools, executor, bigResults } = assemble(toolsOf(description), description.config, this.logger)
    this.tools = tools
    this.executor = executor
    this.bigResults = bigResults
    this.#control = new Control(executor, description, {
      server: server => this.#listeners.tell('server', server),
      warn: warning => this.#reports.add(warning),
    })
    this.#servers = new Servers({
      tools,
      catalog: this.catalog,
      sample: sampling({ executor, choose: () => this.#model.choose() }),
      logger: this.logger,
      reports: this.#reports,
      description: () => this.#description,
      beforeStart: () => this.answerInputs(),
      onStatus: status => this.#control.noteServer(status),
      closing: this.#closing.signal,
      homeProgram: options.homeProgram,
      triesOnce: options.triesOnce,
    })
    this.approvals = this.#control.approvals
    this.approvals.onChange(waiting => this.#listeners.tell('approval', waiting))
    tools.onChange(() => this.#listeners.tell('tools', tools.getTools()))
    this.#durable = new ProjectDurable(
      {
        executor,
        approvals: this.approvals,
        logger: this.logger,
        described: () => this.#description,
        use: interceptor => this.#control.useInside(interceptor),
        say: options.say,
        onChange: change => this.#listeners.tell('durable', change),
        onBack: pool => this.#control.resetBreaker(pool),
      },
      options.durable,
    )
    this.#model = new ModelChoice({
      executor,
      bigResults,
      logger: this.logger,
      config: () => this.config,
      whenReady: () => this.ready(),
      onChosen: model => this.#listeners.tell('model', model),
      ...options.model,
    })
    const onChange = () => this.#listeners.tell('voice', this.#voice?.status() ?? [])
    const { voice, say: onNotice } = options
    this.#voice = voice && new Voice<Project>(this, voice, { onChange, onNotice })
  }

  get config(): ToolpostConfig {
    return this.#description.config
  }

  /** Where the configuration was read from; `undefined` for the built-in example. */
  get file(): string | undefined {
    return this.#description.file
  }

  /** Answers questions; those that come early wait for the model and the tools that they may need. */
  get client(): AiClient {
    return this.#model.client
  }

  /** The client that answers, chosen now if it was not before. */
  model = (): Promise<ChosenClient> => this.#model.choose()

  /** The models to choose from: what is used, configured and found. */
  models = (): Promise<ModelInfo[]> => this.#model.list()

  /** Answers with one of those; `undefined` for any other. */
  clientOf = (model: string): Promise<AiClient | undefined> => this.#model.clientOf(model)

  /** What turns speech into text now, if anything does. */
  voice = (): VoiceInput | undefined => this.#voice?.input

  /** The calls that are kept, if they are. */
  history = (): History | undefined => this.#history.current

  /** Keeps all calls from now on. Resolves when their file is open, or cannot be opened; never rejects. */
  keepHistory = (options?: KeepOptions): Promise<void> =>
    this.#history.keep(this, { onNotice: this.#options.say, ...options })

  /** What accepts durable calls and knows of them, once it was started. */
  durable = (): DurableRuns | undefined => this.#durable.runs

  /** Told of every durable run, worker and change of the database; returns a function that stops it. */
  onDurable = (listener: (change: DurableChange) => void): (() => void) => this.on('durable', listener)

  /** Whether the configuration makes all calls of a tool durable. */
  isAlwaysDurable = (tool: string): boolean => this.#durable.isNamed(tool)

  /** Resolves when durable calls can be made, or cannot be, or are not configured; never rejects. */
  startDurable = (): Promise<void> => this.#durable.start()

  /** Starts everything side by side. Resolves when nothing is starting any more; never rejects. */
  async start(): Promise<void> {
    await Promise.all([this.ready(), this.#model.choose().catch(() => {}), this.#voice?.start()])
  }

  /**
   * Starts the servers, and what durable calls need. Resolves when every one, or the server named, is ready or has failed;
   * never rejects.
   */
  async ready(name?: string): Promise<ServerStatus[]> {
    const durable = name === undefined ? this.startDurable() : undefined
    const mcp = await this.#servers.start()
    await mcp?.ready(name)
    await durable
    if (name === undefined) this.#control.checkNames()
    return this.status().servers.filter(server => name === undefined || server.name === name)
  }

  /** Waits for the server of a tool, as `waitForTool` does; what ails the others is told only if that one is not there. */
  async waitForServer(server: string, tool: string, limitMs?: number): Promise<void> {
    this.#reports.hold()
    const mcp = await this.#servers.start()
    if (mcp) await waitForServer(server, tool, { tools: this.tools, mcp, limitMs })
    this.#reports.release({ tell: !this.#isReady(server) })
  }

  /**
   * As `ready`, but a server that fails counts after its first attempt, and none is waited for longer than `limitMs`; of the
   * others, nothing is told if one is named.
   */
  async tried(name?: string, limitMs?: number): Promise<void> {
    if (name !== undefined) this.#reports.hold()
    const mcp = await this.#servers.start()
    if (mcp) await inTime([mcp.tried(name)], limitMs)
    if (name !== undefined) this.#reports.release({ tell: !this.#isReady(name) })
  }

  #isReady(name: string): boolean {
    return this.status().servers.some(server => server.name === name && server.state === 'ready')
  }

  status(): ProjectStatus {
    return {
      servers: this.#control.withBreakers(this.#servers.status()),
      problem: this.#servers.problem,
      model: this.#model.chosen,
      voice: this.#voice?.status() ?? [],
      history: this.#history.current?.status(),
      durable: this.#durable.status(),
    }
  }

  /** Calls `listener` on every such event; returns a function that stops it. */
  readonly on: Listeners<ProjectEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)

  /** Ends a server and starts it again. Resolves when that has succeeded or failed. */
  async restart(server: string): Promise<void> {
    await this.#servers.restart(server)
    this.#control.resetBreaker(server)
  }

  /** Ends a server until it is restarted. */
  stop = (server: string): Promise<void> => this.#servers.stop(server)

  /** How a server is configured. */
  entryOf = (server: string): Promise<ServerEntry | undefined> => this.#servers.entryOf(server)

  /** The logins at the servers, once those were started. */
  logins = (): Logins | undefined => this.#servers.logins

  /** The home of the built-in example, started now if it was not before; `undefined` if there is none. */
  exampleHome = (): Promise<ExampleHome | undefined> => this.#servers.home()

  /** Asks, once, for what the servers want to know. Without an answer, only the server that wants it fails. */
  async answerInputs(): Promise<void> {
    this.#description = await withAnswers(this.#description, this.#options)
  }

  /**
   * Waits for a tool that is not there yet, for `limitMs` at most; for a command that makes one call. What ails other
   * servers is told only if it is not found.
   */
  async waitForTool(name: string, limitMs?: number): Promise<void> {
    if (this.tools.findTool(name)) return
    this.#reports.hold()
    const mcp = await this.#servers.start()
    const found = mcp && (await waitForTool(name, { tools: this.tools, mcp, limitMs }))
    if (!found) await this.startDurable()
    this.#reports.release({ tell: !this.tools.findTool(name) })
  }

  /**
   * Reads the configuration again: servers that were added start, removed ones end, changed ones restart, and nothing else is
   * touched; tools, policy, clients, limits, model and history follow. Resolves to what changed as soon as that holds; `ready`
   * waits for the servers. If it has a mistake, rejects with a ConfigError and changes nothing. One at a time. With `quietly`,
   * nothing is said if nothing changed.
   */
  reload({ quietly = false }: { quietly?: boolean } = {}): Promise<ReloadChanges> {
    const reloaded = this.#reloading.then(() => this.#reload(quietly))
    this.#reloading = reloaded.catch(() => {})
    return reloaded
  }

  /** Follows the files of the configuration, and reloads when they change. Mistakes are told, and change nothing. */
  follow(): Following {
    const { say } = this.#options
    return followFiles({ described: () => this.#description, reload: options => this.reload(options), say })
  }

  /** Also asked before a reload: what it throws is a mistake in the configuration. Returns a function that removes it. */
  addCheck(check: (config: ToolpostConfig) => void): () => void {
    this.#checks.add(check)
    return () => void this.#checks.delete(check)
  }

  async #reload(quietly: boolean): Promise<ReloadChanges> {
    const after = await this.#options.read()
    const before = this.#description
    const ownTools = toolsOf(after)
    for (const check of this.#checks) check(after.config)
    if (this.#closing.signal.aborted) return changesBetween(before, before)
    this.#control.apply(after)
    this.#description = after
    noteSecrets(after.config)
    for (const line of newsOf(before, after, quietly)) this.#options.say(line)
    const isChanged = (...keys: (keyof ToolpostConfig)[]) => differs(before.config, after.config, keys)
    if (isChanged('tools', 'documents', 'search')) replaceTools(this.tools, ownTools, [before, after])
    if (isChanged('model', 'fastPath', 'sentences')) this.#model.renew()
    await this.#servers.apply(before)
    if (isChanged('history')) await this.#history.apply(this)
    if (isChanged('durable')) await this.#durable.apply(before.config)
    if (this.#servers.isStarted) void this.ready()
    return changesBetween(before, after)
  }

  /** Ends what was started, also what is still starting. Nothing can be started afterwards. */
  close(options?: { drainMs?: number }): Promise<void> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  /** Ends the voice gateway alone: nothing more is heard while calls under way are waited for. */
  closeVoice = async (options?: { drainMs?: number }): Promise<void> => this.#voice?.close(options)

  /** Takes no more durable runs, and gives those under way up to `drainMs`; the others' workers take what is left. */
  closeDurable = (options?: { drainMs?: number }): Promise<void> => this.#durable.close(options)

  async #close(options?: { drainMs?: number }): Promise<void> {
    this.#closing.abort()
    this.#control.close()
    await this.closeVoice(options)
    await this.#reloading
    await this.closeDurable(options)
    await this.#servers.close()
    await Promise.all([this.#history.close(), this.bigResults?.store.close()])
  }
}
