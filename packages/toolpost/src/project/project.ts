import { isDeepStrictEqual } from 'node:util'
import type { Interceptor } from '../executor/chain.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { DEFAULT_MAX_TEXT_BYTES } from '../executor/options.ts'
import type { HistoryStatus } from '../history/history.ts'
import type { Approval, Approvals, Pins } from '../interceptors/index.ts'
import { BigResults, longResults } from '../interceptors/long-results.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Catalog } from '../mcp/catalog.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { checkedTool, ToolDefinitionError } from '../tools/check-tool.ts'
import { declareTools } from '../tools/declared-tools.ts'
import { closeIsolated } from '../tools/isolated.ts'
import { localInternals, localTools } from '../tools/local-tools.ts'
import { shapedTool } from '../tools/shape.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { describeThrown, Listeners, quietly } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import { type CloseOptions, Configuration, differs, type Part, type ReloadChanges } from './configuration.ts'
import { Control, unmatchedPatterns } from './control.ts'
import { type DurableSettings, durableRuns } from './durable/durable-runs.ts'
import type { DurableChange, DurableStatus } from './durable.ts'
import { ModelChoice, type ModelInfo } from './model-choice.ts'
import { notifier } from './notify.ts'
import { type KeepHistoryOptions, ProjectHistory } from './project-history.ts'
import type { ResolvedConfig } from './resolve.ts'
import { sampling } from './sampling.ts'
import { Servers, type WaitOptions } from './servers.ts'
import { projectTimers, type TimerEvent } from './timers.ts'
import { projectVoice, type StartVoice, type VoicePart } from './voice.ts'

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
  readonly catalog: Catalog
  readonly #context: ReturnType<typeof createContext>
  readonly #parts: ReturnType<typeof createParts>
  /** The same, and what was added later. */
  readonly #all: Set<Part>
  readonly #closing = new AbortController()
  readonly #warned = new Set<string>()
  #closed: Promise<void> | undefined

  constructor(resolved: ResolvedConfig, options: ProjectOptions) {
    const context = createContext(resolved, options, this.#closing.signal)
    this.#context = context
    this.executor = context.executor
    this.tools = context.executor.tools
    this.bigResults = context.bigResults
    this.logger = context.logger
    this.catalog = context.catalog
    this.#parts = createParts(context, this)
    this.#all = new Set<Part>(Object.values(this.#parts).filter(part => part !== undefined))
    this.approvals = this.#parts.control.approvals
    this.pins = this.#parts.control.pins
  }

  get config(): ToolpostConfig {
    return this.#context.configuration.config
  }

  /** Where the configuration was read from; `undefined` for the built-in example. */
  get file(): string | undefined {
    return this.#context.configuration.current.file
  }

  /** Answers questions; early ones wait for the model and the tools they may need. */
  get client() {
    return this.#parts.model.client
  }

  /** The client that answers, chosen now if necessary; all there are to choose from; that of another one, if there is one. */
  model = () => this.#parts.model.choose()
  models = () => this.#parts.model.list()
  clientOf = (model: string) => this.#parts.model.clientOf(model)

  /** Speech to text, if it is available now. It is closed first, so that it stops listening while calls in flight finish. */
  voice = () => this.#parts.voice?.input()
  closeVoice = async (options?: CloseOptions) => this.#parts.voice?.close(options)

  /** The recorded calls. `keepHistory` records from now on; it resolves when the file is open or cannot be opened. */
  history = () => this.#parts.history.current
  keepHistory = (options?: KeepHistoryOptions) => this.#parts.history.keep(options)

  /** Durable calls, if they are started. Starting resolves when they are ready, have failed, or are not configured. */
  durable = () => this.#parts.durable.runs
  startDurable = (): Promise<void> => this.#parts.durable.start()
  onDurable = (listener: (change: DurableChange) => void) => this.on('durable', listener)
  /** Whether the configuration makes all calls of a tool durable. */
  isAlwaysDurable = (tool: string) => this.#parts.durable.isNamed(tool)
  /** Takes no more runs, and gives running ones up to `drainMs`; other workers take over the rest. */
  closeDurable = (options?: CloseOptions) => this.#parts.durable.close(options)

  /** Starts everything in parallel. Resolves when nothing is still starting; never rejects. */
  async start(): Promise<void> {
    const { timers, model, voice } = this.#parts
    timers.start()
    await Promise.all([this.ready(), model.choose().catch(() => {}), voice?.start()])
  }

  /** Starts the servers and durable calls. Resolves when all, or the named server, are ready or have failed; never rejects. */
  async ready(name?: string): Promise<ServerStatus[]> {
    const isOne = name !== undefined
    await Promise.all([this.#parts.servers.ready(name), isOne ? undefined : this.startDurable()])
    for (const text of isOne || this.#closing.signal.aborted ? [] : this.unmatchedPatterns()) {
      if (!this.#warned.has(text)) this.#context.report(`⚠️ ${text} (yet)`)
      this.#warned.add(text)
    }
    return this.status().servers.filter(server => !isOne || server.name === name)
  }

  /** Patterns in rules and clients that match no tool, in words. */
  unmatchedPatterns = () => unmatchedPatterns(this.config, this.tools)

  status(): ProjectStatus {
    const { servers, control, model, voice, history, durable } = this.#parts
    return {
      servers: servers.status().map(status => control.withBreaker(status)),
      problem: servers.problem,
      model: model.chosen,
      voice: voice?.status() ?? [],
      history: history.current?.status(),
      durable: durable.status(),
    }
  }

  readonly on: Listeners<ProjectEvents>['on'] = (...given) => this.#context.listeners.on(...given)

  /** Of a server: its last messages, how it is configured, and the logins to all, once they have been started. */
  messages = (server: string, options?: { after?: number | undefined }) =>
    this.#parts.servers.mcp?.messages(server, options) ?? []
  entryOf = async (server: string) => this.#parts.servers.entryOf(server)
  logins = () => this.#parts.servers.mcp?.logins
  stop = async (server: string) => this.#parts.servers.mcp?.stop(server)
  /** Stops a server and starts it again. Resolves when it is ready or has failed. */
  async restart(server: string): Promise<void> {
    await this.#parts.servers.mcp?.restart(server)
    this.#parts.control.resetBreaker(server)
  }

  /** The home of the built-in example, started now if necessary; `undefined` if there is none. */
  exampleHome = () => this.#parts.servers.home()

  /** Like `ready` for servers, but waits only for the first attempt of each, and for at most `limitMs`. */
  tried = (name?: string, limitMs?: number) => this.#parts.servers.tried(name, limitMs)
  /** Waits for a tool that is not registered yet, but only while servers are starting for the first time. */
  waitWhileStarting = (tool: string, options: WaitOptions) =>
    this.#parts.servers.waitWhileStarting(tool, options)
  /** Waits for a tool, for at most `limitMs`. Resolves to its registered name, which may be given as `server__tool` too. */
  async waitForTool(given: string, limitMs?: number): Promise<string> {
    const name = await this.#parts.servers.waitForTool(given, limitMs)
    if (!this.tools.findTool(name)) await this.startDurable()
    return name
  }

  /**
   * Reads the configuration again. Resolves to what changed, once it is applied; `ready` waits for the servers. On a mistake,
   * rejects with a ConfigError and changes nothing. With `quietly`, says nothing if nothing changed.
   */
  async reload(options?: { quietly?: boolean }): Promise<ReloadChanges> {
    const changes = await this.#context.configuration.reload(this.#all, options)
    // Servers that were added are started, too.
    if (this.#parts.servers.starting) void this.ready()
    return changes
  }

  /** Follows the files of the configuration, and reloads when they change. Mistakes are reported and change nothing. */
  follow = () => this.#context.configuration.follow(options => this.reload(options))

  /** Adds a check that runs before a reload: if it throws, the reload is rejected. Returns a function that removes it. */
  addCheck(check: (config: ToolpostConfig) => void): () => void {
    const part: Part = { prepare: ({ config }) => void check(config) }
    this.#all.add(part)
    return () => void this.#all.delete(part)
  }

  /** To be called when the token in `.toolpost/` was changed: it must not be sent to servers. */
  guardNewToken = () => this.#parts.control.guardNewToken()

  /** Ends everything, including what is still starting, even if a part fails to end. Nothing can be started afterwards. */
  close(options?: CloseOptions): Promise<void> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  async #close(options?: CloseOptions): Promise<void> {
    this.#closing.abort()
    for (const part of this.#all) {
      try {
        await part.close?.(options)
      } catch (error) {
        this.logger.warn({ error: describeThrown(error) }, 'A part of the project could not be closed')
      }
    }
  }
}

function createContext(resolved: ResolvedConfig, options: ProjectOptions, closing: AbortSignal) {
  const { executor: settings, bigResults: mode } = resolved.config
  const logger = quietLogger(options.logger?.(resolved.config))
  const listeners = new Listeners<ProjectEvents>((event, error) =>
    logger.warn({ error: describeThrown(error) }, `A listener for '${event}' failed`),
  )
  const say = (text: string) => quietly(() => options.say?.(text))
  const configuration = new Configuration(resolved, { ...options, say, closing })
  const shape = (tool: Tool, server?: string) => shapedTool(tool, server, configuration.config.shape)
  const tools = new ToolManager({ logger, shape, tools: toolsOf(resolved) })
  tools.onChange(() => listeners.tell('tools', tools.getTools()))
  const executor = new ToolExecutor(tools, { ...settings, logger })
  const { maxTextBytes = DEFAULT_MAX_TEXT_BYTES } = settings ?? {}
  const bigResults = mode === 'cut' ? undefined : new BigResults({ maxTextBytes })
  // Outermost, so that it sees what the caller gets.
  if (bigResults) executor.use(longResults(bigResults))
  return {
    ...{ configuration, options, executor, bigResults, logger, listeners, say, closing },
    report: options.looksForItself ? () => {} : say,
    tell: listeners.tell.bind(listeners) as typeof listeners.tell,
    catalog: new Catalog(),
  }
}

/** In the order in which they apply a configuration and close: control and voice first, so that no new work starts. */
function createParts(context: ReturnType<typeof createContext>, project: Project) {
  const { configuration, options, executor, tell, say } = context
  const control = new Control(context, server => {
    const status = project.status().servers.find(({ name }) => name === server)
    if (status) tell('server', status)
  })
  const { approvals } = control
  approvals.onChange(waiting => tell('approval', waiting))
  approvals.onChange(notifier(context))
  const model = new ModelChoice(context, () => project.ready())
  const onStatus = (status: ServerStatus) => {
    control.noteServer(status)
    tell('server', control.withBreaker(status))
  }
  const servers = new Servers({ ...context, sample: sampling(context, model), onStatus })
  for (const interceptor of [...(options.inside ?? []), servers.startingServers]) executor.use(interceptor)
  const durable = {
    ...{ ...context, approvals },
    onChange: (change: DurableChange) => tell('durable', change),
    waitForTool: (name: string, limitMs?: number) => project.waitForTool(name, limitMs),
  }
  const { voice: open } = options
  const onChange = () => tell('voice', voice?.status() ?? [])
  const voice = open && projectVoice(() => open(project, { onChange, onNotice: say }), onChange)
  return {
    ...{ control, tools: { prepare: replaceTools(executor.tools) }, model, voice, configuration },
    durable: durableRuns(durable, options.durable),
    ...{ servers, history: new ProjectHistory(context), timers: projectTimers(context) },
    isolated: { close: closeIsolated },
  }
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
function replaceTools(manager: ToolManager): NonNullable<Part['prepare']> {
  return (after, before) => {
    const tools = toolsOf(after)
    const old = toolsOf(before).map(({ name }) => name)
    const isMoved = differs(before, after, 'documents', 'search')
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
