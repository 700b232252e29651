import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import { Catalog } from '../mcp/catalog.ts'
import type { Logins, McpIntegration, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import { Listeners } from '../runtime/listeners.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { assemble, toolsOf } from './assemble.ts'
import { Control } from './control.ts'
import type { ExampleHome } from './example-home.ts'
import { ModelChoice } from './model-choice.ts'
import type { Description } from './open-project.ts'
import { type KeepOptions, ProjectHistory } from './project-history.ts'
import type { ProjectEvents, ProjectOptions, ProjectStatus } from './project-options.ts'
import { Reports } from './reports.ts'
import { serverEntries, serverOptions, serverStatus } from './server-entries.ts'
import { startHome } from './start-home.ts'
import { Voice, type VoiceInput } from './voice.ts'
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
  #description: Description
  #home: Promise<ExampleHome | undefined> | undefined
  #servers: Promise<McpIntegration | undefined> | undefined
  #mcp: McpIntegration | undefined
  #problem: string | undefined
  #closed: Promise<void> | undefined

  /** Throws a ConfigError on a tool that cannot be used. */
  constructor(description: Description, options: ProjectOptions) {
    const { config } = description
    this.#description = description
    this.#options = options
    this.logger = options.logger(config)
    this.#reports = new Reports(options.say)
    this.#listeners = new Listeners((event, error) =>
      this.logger.warn({ event, error: String(error) }, 'A listener of the project failed'),
    )
    const { tools, executor, bigResults } = assemble(toolsOf(description), config, this.logger)
    this.tools = tools
    this.executor = executor
    this.bigResults = bigResults
    this.#control = new Control(executor, description, {
      server: server => this.#listeners.tell('server', server),
      warn: warning => this.#reports.add(warning),
    })
    this.approvals.onChange(waiting => this.#listeners.tell('approval', waiting))
    tools.onChange(() => this.#listeners.tell('tools', tools.getTools()))
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

  /** Calls that a person is asked about. */
  get approvals(): Approvals {
    return this.#control.approvals
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

  /** What turns speech into text now, if anything does. */
  voice = (): VoiceInput | undefined => this.#voice?.input

  /** The calls that are kept, if they are. */
  history = (): History | undefined => this.#history.current

  /** Keeps all calls from now on. Resolves when their file is open, or cannot be opened; never rejects. */
  keepHistory = (options?: KeepOptions): Promise<void> =>
    this.#history.keep(this, { onNotice: this.#options.say, ...options })

  /** Starts everything side by side. Resolves when nothing is starting any more; never rejects. */
  async start(): Promise<void> {
    await Promise.all([this.ready(), this.#model.choose().catch(() => {}), this.#voice?.start()])
  }

  /** Starts the servers. Resolves when every one, or the one named, is ready or has failed; never rejects. */
  async ready(name?: string): Promise<ServerStatus[]> {
    const mcp = await this.#startServers()
    await mcp?.ready(name)
    if (name === undefined) this.#control.checkNames()
    return this.status().servers.filter(server => name === undefined || server.name === name)
  }

  status(): ProjectStatus {
    const isOver = this.#closing.signal.aborted || this.#problem !== undefined
    const isStarting = this.#servers !== undefined && !this.#mcp && !isOver
    const servers = serverStatus(this.#description, this.#mcp?.status() ?? [], isStarting)
    return {
      servers: this.#control.withBreakers(servers),
      problem: this.#problem,
      model: this.#model.chosen,
      voice: this.#voice?.status() ?? [],
      history: this.#history.current?.status(),
    }
  }

  /** Calls `listener` on every such event; returns a function that stops it. */
  readonly on: Listeners<ProjectEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)

  /** Ends a server and starts it again. Resolves when that has succeeded or failed. */
  async restart(server: string): Promise<void> {
    if (!this.#mcp) throw new Error(`There is no MCP server '${server}'`)
    await this.#mcp.restart(server)
    this.#control.resetBreaker(server)
  }

  /** How a server is configured. */
  async entryOf(server: string): Promise<ServerEntry | undefined> {
    return serverEntries(this.#description, await this.#home)[server]
  }

  /** The logins at the servers, once those were started. */
  logins = (): Logins | undefined => this.#mcp?.logins

  /** The home of the built-in example, started now if it was not before; `undefined` if there is none. */
  exampleHome(): Promise<ExampleHome | undefined> {
    const { homeProgram: program } = this.#options
    const { signal } = this.#closing
    const onProblem = (problem: string) => {
      this.#problem = problem
      this.#reports.add(`The example home could not be started; continuing with local tools only: ${problem}`)
    }
    this.#home ??=
      this.file === undefined ? startHome({ program, signal, onProblem }) : Promise.resolve(undefined)
    return this.#home
  }

  /**
   * Waits for a tool that is not there yet, for `limitMs` at most; for a command that makes one call. What ails other
   * servers is told only if it is not found.
   */
  async waitForTool(name: string, limitMs?: number): Promise<void> {
    if (this.tools.findTool(name)) return
    this.#reports.hold()
    const mcp = await this.#startServers()
    const found = mcp && (await waitForTool(name, { tools: this.tools, mcp, limitMs }))
    this.#reports.release({ tell: !found })
  }

  /**
   * Reads the configuration again and starts everything that it describes anew. If it has a mistake, rejects with a
   * ConfigError and changes nothing. The executor's own limits stay as they were.
   */
  async reload(): Promise<void> {
    const description = await this.#options.read()
    const ownTools = toolsOf(description)
    const wasStarted = this.#servers !== undefined
    await this.#endServers()
    this.tools.removeAll(this.tools.getTools().map(tool => tool.name))
    this.#description = description
    for (const tool of ownTools) this.tools.addCustomTool(tool)
    this.#control.apply(description)
    this.#model.forget()
    if (wasStarted) await this.ready()
  }

  /** Ends what was started, also what is still starting. Nothing can be started afterwards. */
  close(options?: { drainMs?: number }): Promise<void> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  /** Ends the voice gateway alone: nothing more is heard while calls under way are waited for. */
  async closeVoice(options?: { drainMs?: number }): Promise<void> {
    await this.#voice?.close(options)
  }

  async #close(options?: { drainMs?: number }): Promise<void> {
    this.#closing.abort()
    this.#control.close()
    await this.closeVoice(options)
    await this.#endServers()
    await Promise.all([this.#history.close(), this.bigResults?.store.close()])
  }

  async #endServers(): Promise<void> {
    const [mcp, home] = await Promise.all([this.#servers, this.#home])
    this.#servers = this.#home = this.#mcp = this.#problem = undefined
    await mcp?.close()
    await home?.close()
  }

  #startServers(): Promise<McpIntegration | undefined> {
    if (!this.#closing.signal.aborted) this.#servers ??= this.#openServers()
    return this.#servers ?? Promise.resolve(undefined)
  }

  /** Servers that cannot even be begun with are a problem to tell, and no reason to stop. */
  async #openServers(): Promise<McpIntegration | undefined> {
    for (const [name, problem] of Object.entries(this.#description.brokenServers))
      this.#reports.add(`❌ Server '${name}' cannot be started: ${problem}`)
    try {
      const servers = serverEntries(this.#description, await this.exampleHome())
      if (Object.keys(servers).length === 0) return undefined
      const { McpIntegration } = await import('../mcp/index.ts')
      if (this.#closing.signal.aborted) return undefined
      const onReport = (report: string) => this.#reports.add(report)
      const { catalog } = this
      const mcp = new McpIntegration({ ...serverOptions(this), servers, onReport, catalog })
      mcp.on('server', status => this.#control.noteServer(status))
      mcp.start(this.tools)
      this.#mcp = mcp
      return mcp
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error)
      return undefined
    }
  }
}
