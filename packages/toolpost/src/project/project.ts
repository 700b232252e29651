import { isDeepStrictEqual } from 'node:util'
import type { Interceptor } from '../executor/chain.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { DEFAULT_MAX_TEXT_BYTES } from '../executor/options.ts'
import type { History, HistoryStatus } from '../history/history.ts'
import type { Approval, Approvals, Pins } from '../interceptors/index.ts'
import { BigResults, longResults } from '../interceptors/long-results.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Catalog } from '../mcp/catalog.ts'
import type { LoggedMessage, Logins, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import { checkedTool, ToolDefinitionError } from '../tools/check-tool.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { closeIsolated } from '../tools/isolated.ts'
import { localInternals, localTools } from '../tools/local-tools.ts'
import { shapedTool } from '../tools/shape.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { describeThrown, Listeners, quietly } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import * as configured from './configuration.ts'
import { Control, unmatchedPatterns } from './control.ts'
import { DurableRuns, type DurableSettings } from './durable/durable-runs.ts'
import type { DurableChange, DurableStatus } from './durable.ts'
import type { ExampleHome } from './example-home.ts'
import { stateFolder } from './local-state.ts'
import { ModelChoice, type ModelInfo } from './model-choice.ts'
import { notifier } from './notify.ts'
import { type KeepHistoryOptions, ProjectHistory } from './project-history.ts'
import type { ResolvedConfig } from './resolve.ts'
import { sampling } from './sampling.ts'
import { Servers, type WaitOptions } from './servers.ts'
import { startTimers, type TimerEvent } from './timers.ts'
import { projectVoice, type StartVoice, type VoiceInput, type VoicePart } from './voice.ts'

export interface ProjectOptions {
  /** Creates the logger for a configuration, which may set the level; no logging if omitted. */
  logger?: ((config: ToolpostConfig) => Logger) | undefined
  say?: ((text: string) => void) | undefined
  /** The caller reads every status itself, so server problems are not reported as well. */
  looksForItself?: boolean | undefined
  /** A server that fails is not retried, whatever the configuration says. */
  triesOnce?: boolean | undefined
  read(): Promise<ResolvedConfig>
  /** The model to use instead of the configured one; if required and unavailable, it is an error. */
  model?: { wanted?: string | undefined; isRequired?: boolean; record?: string } | undefined
  /** Interceptors inside those of the configuration: only calls that may run reach them. */
  inside?: readonly Interceptor[] | undefined
  voice?: StartVoice<Project> | undefined
  /** What this process does with durable calls, if they are configured. */
  durable?: DurableSettings | undefined
}

export interface ProjectEvents {
  server: ServerStatus
  tools: readonly Tool[]
  model: ModelInfo
  voice: readonly VoicePart[]
  /** Calls started or stopped waiting for a person. */
  approval: readonly Approval[]
  timer: TimerEvent
  durable: DurableChange
}

/** A snapshot of the whole project; what is `undefined` is off. */
export interface ProjectStatus {
  servers: ServerStatus[]
  /** Why there are no servers, if they could not be started. */
  problem: string | undefined
  model: ModelInfo | undefined
  voice: VoicePart[]
  history?: HistoryStatus | undefined
  durable?: DurableStatus | undefined
}

/** A running toolpost.json. Nothing is loaded or started before it is needed; the parts do not delay one another. */
export class Project {
  readonly tools: ToolManager
  readonly executor: ToolExecutor
  /** Keeps results too long for a model, unless they are cut. */
  readonly bigResults: BigResults | undefined
  readonly logger: Logger
  readonly approvals: Approvals
  /** The accepted definitions of the servers' tools. */
  readonly pins: Pins
  /** What the MCP servers offer besides tools. */
  readonly catalog = new Catalog()
  readonly #context: configured.ProjectContext
  readonly #configuration: configured.Configuration
  readonly #control: Control
  readonly #model: ModelChoice
  readonly #voice: ReturnType<typeof projectVoice> | undefined
  readonly #durable: DurableRuns
  readonly #servers: Servers
  readonly #history: ProjectHistory
  readonly #listeners: Listeners<ProjectEvents>
  /** In the order in which they apply a configuration and close: control and voice first, so that no new work starts. */
  readonly #parts: Set<configured.Part>
  readonly #closing = new AbortController()
  readonly #warned = new Set<string>()
  #stopTimers: (() => void) | undefined
  #closed: Promise<void> | undefined

  constructor(resolved: ResolvedConfig, options: ProjectOptions) {
    const { executor: settings, bigResults: mode } = resolved.config
    const logger = quietLogger(options.logger?.(resolved.config))
    this.logger = logger
    const listeners = new Listeners<ProjectEvents>((event, error) =>
      logger.warn({ error: describeThrown(error) }, `A listener for '${event}' failed`),
    )
    this.#listeners = listeners
    const tell: typeof listeners.tell = (event, value) => listeners.tell(event, value)
    const say = (text: string) => quietly(() => options.say?.(text))
    for (const notice of resolved.notices) say(notice)
    const closing = this.#closing.signal
    const configuration = new configured.Configuration(resolved, { ...options, say, closing })
    this.#configuration = configuration
    const shape = (tool: Tool, server?: string) => shapedTool(tool, server, configuration.config.shape)
    const tools = new ToolManager({ logger, shape, tools: toolsOf(resolved) })
    this.tools = tools
    tools.onChange(() => tell('tools', tools.getTools()))
    const executor = new ToolExecutor(tools, { ...settings, logger })
    this.executor = executor
    const { maxTextBytes = DEFAULT_MAX_TEXT_BYTES } = settings ?? {}
    const bigResults = mode === 'cut' ? undefined : new BigResults({ maxTextBytes })
    this.bigResults = bigResults
    // Outermost, so that it sees what the caller gets.
    if (bigResults) executor.use(longResults(bigResults))
    const report = options.looksForItself ? () => {} : say
    const context = { configuration, options, executor, bigResults, logger, say, report, tell, closing }
    this.#context = context
    const control = new Control(context, server => {
      const status = this.status().servers.find(({ name }) => name === server)
      if (status) tell('server', status)
    })
    this.#control = control
    this.pins = control.pins
    this.approvals = control.approvals
    const { approvals } = control
    approvals.onChange(waiting => tell('approval', waiting))
    approvals.onChange(notifier(context))
    this.#model = new ModelChoice(context, () => this.ready())
    const onStatus = (status: ServerStatus) => {
      control.noteServer(status)
      tell('server', control.withBreaker(status))
    }
    const host = { catalog: this.catalog, sample: sampling(context, this.#model), onStatus }
    this.#servers = new Servers({ ...context, ...host })
    for (const interceptor of [...(options.inside ?? []), this.#servers.startingServers])
      executor.use(interceptor)
    const durable = {
      ...{ ...context, approvals },
      use: (interceptor: Interceptor) => executor.use(interceptor),
      onChange: (change: DurableChange) => tell('durable', change),
      onBack: (pool: string) => control.resetBreaker(pool),
      waitForTool: (name: string, limitMs?: number) => this.waitForTool(name, limitMs),
    }
    this.#durable = new DurableRuns(durable, options.durable)
    const { voice } = options
    const onChange = () => tell('voice', this.#voice?.status() ?? [])
    this.#voice = voice && projectVoice(() => voice(this, { onChange, onNotice: say }), onChange)
    this.#history = new ProjectHistory(context)
    const parts = [
      ...[control, { prepare: replaceTools(tools) }, this.#model, this.#voice, configuration],
      ...[this.#durable, this.#servers, this.#history],
      ...[{ close: () => this.#stopTimers?.() }, { close: closeIsolated }],
    ]
    this.#parts = new Set<configured.Part>(parts.filter(part => part !== undefined))
  }

  get config(): ToolpostConfig {
    return this.#configuration.config
  }

  /** Where the configuration was read from; `undefined` for the built-in example. */
  get file(): string | undefined {
    return this.#configuration.current.file
  }

  /** Answers questions; early ones wait for the model and the tools they may need. */
  get client(): AiClient {
    return this.#model.client
  }

  /** The client that answers, chosen now if necessary; all there are to choose from; that of another one, if there is one. */
  model = (): Promise<ChosenClient> => this.#model.choose()
  models = (): Promise<ModelInfo[]> => this.#model.list()
  clientOf = (model: string): Promise<AiClient | undefined> => this.#model.clientOf(model)

  /** Speech to text, the recorded calls, and durable calls, as far as they are available now. */
  voice = (): VoiceInput | undefined => this.#voice?.input()
  history = (): History | undefined => this.#history.current
  durable = (): DurableRuns | undefined => this.#durable.runs

  /** Records all calls from now on. Resolves when the file is open or cannot be opened; never rejects. */
  keepHistory = (options?: KeepHistoryOptions): Promise<void> => this.#history.keep(options)

  /** Whether the configuration makes all calls of a tool durable. */
  isAlwaysDurable = (tool: string): boolean => this.#durable.isNamed(tool)

  /** Resolves when durable calls are ready, have failed, or are not configured; never rejects. */
  startDurable = (): Promise<void> => this.#durable.start()

  /** Starts everything in parallel. Resolves when nothing is still starting; never rejects. */
  async start(): Promise<void> {
    const { executor, logger, config, file } = this
    const onEnd = (event: TimerEvent) => {
      this.#context.say(event.text)
      this.#context.tell('timer', event)
    }
    if (config.local === undefined || (config.local !== false && config.local.includes('timer')))
      this.#stopTimers ??= startTimers({ executor, logger, folder: stateFolder(file), onEnd })
    await Promise.all([this.ready(), this.#model.choose().catch(() => {}), this.#voice?.start()])
  }

  /** Starts the servers and durable calls. Resolves when all, or the named server, are ready or have failed; never rejects. */
  async ready(name?: string): Promise<ServerStatus[]> {
    await Promise.all([this.#servers.ready(name), name === undefined ? this.startDurable() : undefined])
    const isAll = name === undefined && !this.#closing.signal.aborted
    for (const text of isAll ? this.unmatchedPatterns() : []) {
      if (!this.#warned.has(text)) this.#context.report(`⚠️ ${text} (yet)`)
      this.#warned.add(text)
    }
    return this.status().servers.filter(server => name === undefined || server.name === name)
  }

  /** Patterns in rules and clients that match no tool, in words. */
  unmatchedPatterns = (): string[] => unmatchedPatterns(this.config, this.tools)

  /** Like `ready` for servers, but waits only for the first attempt of each, and for at most `limitMs`. */
  tried = (name?: string, limitMs?: number): Promise<void> => this.#servers.tried(name, limitMs)

  status(): ProjectStatus {
    return {
      servers: this.#servers.status().map(status => this.#control.withBreaker(status)),
      problem: this.#servers.problem,
      model: this.#model.chosen,
      voice: this.#voice?.status() ?? [],
      history: this.#history.current?.status(),
      durable: this.#durable.status(),
    }
  }

  readonly on: Listeners<ProjectEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)
  onDurable = (listener: (change: DurableChange) => void): (() => void) => this.on('durable', listener)

  /** Of a server: its last messages, how it is configured, and the logins to all, once they have been started. */
  messages = (server: string, options?: { after?: number | undefined }): LoggedMessage[] =>
    this.#servers.mcp?.messages(server, options) ?? []
  entryOf = async (server: string): Promise<ServerEntry | undefined> => this.#servers.entryOf(server)
  logins = (): Logins | undefined => this.#servers.mcp?.logins

  /** To be called when the token in `.toolpost/` was changed: it must not be sent to servers. */
  guardNewToken = (): void => this.#control.guardNewToken()

  /** Stops a server and starts it again. Resolves when it is ready or has failed. */
  async restart(server: string): Promise<void> {
    await this.#servers.started(server).restart(server)
    this.#control.resetBreaker(server)
  }

  stop = async (server: string): Promise<void> => this.#servers.started(server).stop(server)

  /** The home of the built-in example, started now if necessary; `undefined` if there is none. */
  exampleHome = (): Promise<ExampleHome | undefined> => this.#servers.home()

  /** Waits for a tool, for at most `limitMs`. Resolves to its registered name, which may be given as `server__tool` too. */
  async waitForTool(given: string, limitMs?: number): Promise<string> {
    const name = await this.#servers.waitForTool(given, limitMs)
    if (!this.tools.findTool(name)) await this.startDurable()
    return name
  }

  /** Waits for a tool that is not registered yet, but only while servers are starting for the first time. */
  waitWhileStarting = (tool: string, options: WaitOptions): Promise<void> =>
    this.#servers.waitWhileStarting(tool, options)

  /**
   * Reads the configuration again. Resolves to what changed, once it is applied; `ready` waits for the servers. On a mistake,
   * rejects with a ConfigError and changes nothing. With `quietly`, says nothing if nothing changed.
   */
  async reload(options?: { quietly?: boolean }): Promise<configured.ReloadChanges> {
    const changes = await this.#configuration.reload(this.#parts, options)
    // What was added is started, too: servers, and durable calls.
    if (this.#servers.isStarted) void this.ready()
    return changes
  }

  /** Follows the files of the configuration, and reloads when they change. Mistakes are reported and change nothing. */
  follow = () => this.#configuration.follow(options => this.reload(options))

  /** Adds a check that runs before a reload: if it throws, the reload is rejected. Returns a function that removes it. */
  addCheck(check: (config: ToolpostConfig) => void): () => void {
    const part: configured.Part = { prepare: ({ config }) => void check(config) }
    this.#parts.add(part)
    return () => void this.#parts.delete(part)
  }

  /** Ends everything, including what is still starting, even if a part fails to end. Nothing can be started afterwards. */
  close(options?: configured.CloseOptions): Promise<void> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  async #close(options?: configured.CloseOptions): Promise<void> {
    this.#closing.abort()
    for (const part of this.#parts) {
      try {
        await part.close?.(options)
      } catch (error) {
        this.logger.warn({ error: describeThrown(error) }, 'A part of the project could not be closed')
      }
    }
  }

  /** Closes only the voice gateway, so that it stops listening while calls in flight finish. */
  closeVoice = async (options?: configured.CloseOptions): Promise<void> => this.#voice?.close(options)

  /** Takes no more durable runs, and gives running ones up to `drainMs`; other workers take over the rest. */
  closeDurable = (options?: configured.CloseOptions): Promise<void> => this.#durable.close(options)
}

/** The local and declared tools of a configuration. Throws a ConfigError on an unusable declaration. */
function toolsOf({ config, source }: ResolvedConfig): Tool[] {
  const options = { documents: config.documents, searxng: config.search?.searxng }
  const internals = localInternals(options)
  const local = localTools(options, internals)
  const declared = (config.tools ?? []).flatMap((declaration, index) => {
    try {
      return declareTools([declaration], { internals }).map(tool => checkedTool(tool))
    } catch (cause) {
      if (!(cause instanceof ToolDefinitionError)) throw cause
      throw source.error({ path: ['tools', index], problem: cause.message }, { cause })
    }
  })
  const { local: wanted = local.map(({ name }) => name) } = config
  return [...local.filter(({ name }) => wanted !== false && wanted.includes(name)), ...declared]
}

/** Replaces the tools of the configuration; unchanged ones survive a reload. */
function replaceTools(manager: ToolManager): NonNullable<configured.Part['prepare']> {
  return (after, before) => {
    const tools = toolsOf(after)
    const old = toolsOf(before).map(({ name }) => name)
    const isMoved = configured.differs(before, after, 'documents', 'search')
    const declared = ({ config }: ResolvedConfig, name: string) =>
      config.tools?.findLast(each => each.name === name)
    const isSame = ({ name }: Tool) =>
      old.includes(name) && !isMoved && isDeepStrictEqual(declared(before, name), declared(after, name))
    return () => {
      manager.removeAll(old.filter(name => !tools.some(tool => tool.name === name)))
      for (const tool of tools) if (!isSame(tool)) manager.addCustomTool(tool)
    }
  }
}
