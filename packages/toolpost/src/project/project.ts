import type { Interceptor } from '../executor/chain.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { DEFAULT_MAX_TEXT_BYTES } from '../executor/options.ts'
import type { HistoryStatus } from '../history/history.ts'
import type { Approval } from '../interceptors/index.ts'
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
import {
  type CloseOptions,
  createConfiguration,
  differs,
  followFiles,
  forEach,
  type Part,
  type ReloadChanges,
} from './configuration.ts'
import { createControl, unmatchedPatterns } from './control.ts'
import { type DurableSettings, durableRuns } from './durable/durable-runs.ts'
import type { DurableChange, DurableStatus } from './durable.ts'
import { type ModelInfo, modelChoice } from './model-choice.ts'
import { projectHistory } from './project-history.ts'
import type { ResolvedConfig } from './resolve.ts'
import { sampling } from './sampling.ts'
import { createServers } from './servers.ts'
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
  voice?: StartVoice<never> | undefined
  durable?: DurableSettings | undefined
}

export interface ProjectEvents {
  server: ServerStatus
  tools: readonly Tool[]
  model: ModelInfo
  voice: readonly VoicePart[]
  approval: readonly Approval[]
  timer: TimerEvent
  durable: DurableChange
}

export interface ProjectStatus {
  servers: ServerStatus[]
  problem: string | undefined
  model: ModelInfo | undefined
  voice: VoicePart[]
  history?: HistoryStatus | undefined
  durable?: DurableStatus | undefined
}

export type Project = ReturnType<typeof createProject>

/** A running toolpost.json. Nothing is loaded or started before it is needed; the parts do not delay one another. */
export function createProject(resolved: ResolvedConfig, options: ProjectOptions) {
  const closing = new AbortController()
  const context = createContext(resolved, options, closing.signal)
  const { configuration, executor, logger, listeners, report, tell } = context
  const { tools } = executor
  const control = createControl(context, server => {
    const found = status().servers.find(({ name }) => name === server)
    if (found) tell('server', found)
  })
  const { approvals } = control.api
  approvals.onChange(waiting => tell('approval', waiting))
  const model = modelChoice(context, () => ready())
  const sample = sampling(executor, () => model.api.model())
  const servers = createServers(context, sample, each => {
    control.noteServer(each)
    tell('server', control.withBreaker(each))
  })
  for (const interceptor of [...(options.inside ?? []), servers.startingServers]) executor.use(interceptor)
  const { waitForTool: waitForServerTool } = servers
  const durable = durableRuns({ ...context, approvals, waitForTool: waitForServerTool }, options.durable)
  const voice = projectVoice(context, () => project)
  const history = projectHistory(context)
  const timers = projectTimers(context)
  const configured: Part = { prepare: (after, before) => replaceTools(after, before, tools) }
  /** In the order in which they apply a configuration and close: control and voice first, so that no new work starts. */
  const all = [control, configured, model, voice, configuration, durable, servers, history, timers]
  const parts = new Set<Part>([...all, { close: closeIsolated }])

  const status = (): ProjectStatus => ({
    servers: servers.status().map(each => control.withBreaker(each)),
    problem: servers.problem(),
    model: model.chosen(),
    voice: voice.status(),
    history: history.api.history()?.status(),
    durable: durable.status(),
  })
  const unmatched = () => unmatchedPatterns(configuration.config, tools)
  const warned = new Set<string>()
  /** Starts the servers and durable calls. Resolves when all, or the named server, are ready or have failed; never rejects. */
  const ready = async (name?: string): Promise<ServerStatus[]> => {
    const isOne = name !== undefined
    await Promise.all([servers.ready(name), isOne ? undefined : durable.api.startDurable()])
    for (const text of isOne || closing.signal.aborted ? [] : unmatched()) {
      if (!warned.has(text)) report(`⚠️ ${text} (yet)`)
      warned.add(text)
    }
    return status().servers.filter(server => !isOne || server.name === name)
  }
  /** Waits for a tool, for at most `limitMs`. Resolves to its registered name, which may be given as `server__tool` too. */
  const waitForTool = async (given: string, limitMs?: number): Promise<string> => {
    const name = await waitForServerTool(given, limitMs)
    if (!tools.findTool(name)) await durable.api.startDurable()
    return name
  }
  /** Reads and applies the configuration again. On a mistake, rejects with a ConfigError and changes nothing. */
  const reload = async (how?: { quietly?: boolean }): Promise<ReloadChanges> => {
    const changes = await configuration.reload(parts, how)
    if (servers.isStarted()) void ready()
    return changes
  }
  const cannotClose = (error: string) => logger.warn({ error }, 'A part of the project could not be closed')
  let closed: Promise<void> | undefined

  const project = {
    ...context.api,
    ...control.api,
    ...model.api,
    ...servers.api,
    ...history.api,
    ...durable.api,
    tools,
    status,
    ready,
    waitForTool,
    reload,
    get config(): ToolpostConfig {
      return configuration.config
    },
    get file(): string | undefined {
      return configuration.current.file
    },
    on: listeners.on.bind(listeners) as typeof listeners.on,
    /** Starts everything in parallel. Resolves when nothing is still starting; never rejects. */
    async start(): Promise<void> {
      timers.start()
      await Promise.all([ready(), model.api.model().catch(() => {}), voice.start()])
    },
    /** Speech to text, if it is available now. It is closed first, so that it stops listening while calls in flight finish. */
    voice: () => voice.input(),
    closeVoice: voice.close,
    async restart(server: string): Promise<void> {
      await servers.restart(server)
      control.resetBreaker(server)
    },
    unmatchedPatterns: unmatched,
    /** Follows the files of the configuration, and reloads when they change. Mistakes are reported and change nothing. */
    follow: () => followFiles(context, reload),
    /** Adds a check that runs before a reload: if it throws, the reload is rejected. Returns a function that removes it. */
    addCheck(check: (config: ToolpostConfig) => void): () => void {
      const part: Part = { prepare: ({ config }) => void check(config) }
      parts.add(part)
      return () => void parts.delete(part)
    },
    /** Ends everything, including what is still starting, even if a part fails to end. Nothing can be started afterwards. */
    close(how?: CloseOptions): Promise<void> {
      closing.abort()
      closed ??= forEach(parts, part => part.close?.(how), cannotClose)
      return closed
    },
  }
  return project
}

/** What the parts of a project work with. */
export type ProjectContext = ReturnType<typeof createContext>

function createContext(resolved: ResolvedConfig, options: ProjectOptions, closing: AbortSignal) {
  const { executor: settings, bigResults: mode } = resolved.config
  const logger = quietLogger(options.logger?.(resolved.config))
  const listeners = new Listeners<ProjectEvents>((event, error) =>
    logger.warn({ error: describeThrown(error) }, `A listener for '${event}' failed`),
  )
  const say = (text: string) => quietly(() => options.say?.(text))
  const configuration = createConfiguration(resolved, options.read, say, closing)
  const shape = (tool: Tool, server?: string) => shapedTool(tool, server, configuration.config.shape)
  const tools = new ToolManager({ logger, shape, tools: toolsOf(resolved) })
  tools.onChange(() => listeners.tell('tools', tools.getTools()))
  const executor = new ToolExecutor(tools, { ...settings, logger })
  const { maxTextBytes = DEFAULT_MAX_TEXT_BYTES } = settings ?? {}
  const bigResults = mode === 'cut' ? undefined : new BigResults({ maxTextBytes })
  // Outermost, so that it sees what the caller gets.
  if (bigResults) executor.use(longResults(bigResults))
  return {
    api: { executor, bigResults, logger, catalog: new Catalog() },
    configuration,
    options,
    executor,
    logger,
    listeners,
    closing,
    say,
    report: options.looksForItself ? () => {} : say,
    tell: listeners.tell.bind(listeners) as typeof listeners.tell,
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

function replaceTools(after: ResolvedConfig, before: ResolvedConfig, manager: ToolManager) {
  if (!differs(before, after, 'tools', 'local', 'documents', 'search')) return undefined
  const [old, tools] = [toolsOf(before), toolsOf(after)]
  return () => {
    manager.removeAll(old.map(({ name }) => name))
    for (const tool of tools) manager.addCustomTool(tool)
  }
}
