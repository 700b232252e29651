import { mkdirSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Interceptor } from '../executor/chain.ts'
import { refusal } from '../interceptors/refuse.ts'
import type { Logger } from '../logging/logger.ts'
import type {
  Catalog,
  LoggedMessage,
  Logins,
  McpIntegration,
  ServerEntry,
  ServerStatus,
} from '../mcp/index.ts'
import type { Sample } from '../tools/caller.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { ownValue } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import type { Configuration } from './configuration.ts'
import {
  type ExampleHome,
  startExampleHome,
  ZWAVE_PACKAGE,
  ZWAVE_SERVER,
  zwavePackage,
} from './example-home.ts'
import { stateFolder } from './local-state.ts'
import type { Part } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'

/** How long to wait for an earlier server that has not failed yet, since it takes precedence for a name. */
const GRACE_FOR_EARLIER_MS = 500

const MISSING_HOME = `The example home is not installed; continuing with local tools only. To add it, run: npm i ${ZWAVE_PACKAGE}`

export interface ServersOptions {
  tools: ToolManager
  catalog: Catalog
  /** Lets the project's model generate messages for servers. */
  sample: Sample
  logger: Logger
  /** Tells a person why a server failed. */
  report(text: string): void
  configuration: Configuration
  /** A server changed. */
  onStatus(status: ServerStatus): void
  /** Nothing is started once this is aborted. */
  closing: AbortSignal
  homeProgram: string | undefined
  /** A server that fails is not retried. */
  triesOnce: boolean | undefined
}

/** The MCP servers of a project, and the home of the built-in example: started when they are first needed. */
export class Servers implements Part {
  readonly #options: ServersOptions
  #home: Promise<ExampleHome | undefined> | undefined
  #starting: Promise<McpIntegration | undefined> | undefined
  #mcp: McpIntegration | undefined
  /** Tools that did not appear in time, with the wait and the server that was waited for, if it was a certain one. */
  readonly #awaited = new Map<string, { limitMs: number; server: string | undefined }>()
  /** Reports held back until it is known whether they matter. */
  #held: string[] | undefined
  /** Why they could not be started; `undefined` if they could. */
  problem: string | undefined

  constructor(options: ServersOptions) {
    this.#options = options
  }

  get isStarted(): boolean {
    return this.#starting !== undefined
  }

  start(): Promise<McpIntegration | undefined> {
    if (!this.#options.closing.aborted) this.#starting ??= this.#open()
    return this.#starting ?? Promise.resolve(undefined)
  }

  /** Every server in the order of the configuration, including those that have not started yet. */
  status(): ServerStatus[] {
    const { config, file, brokenServers } = this.#options.configuration.current
    const isOver = this.#options.closing.aborted || this.problem !== undefined
    const isStarting = this.#starting !== undefined && !this.#mcp && !isOver
    const running = new Map(this.#mcp?.status().map(status => [status.name, status]))
    const example = file === undefined && zwavePackage() !== undefined ? [ZWAVE_SERVER] : []
    const names = new Set([...Object.keys(config.mcpServers ?? {}), ...example, ...running.keys()])
    return [...names].flatMap(name => {
      const problem = ownValue(brokenServers, name)
      if (problem !== undefined) return { ...IDLE, name, state: 'failed' as const, error: problem }
      return running.get(name) ?? (isStarting ? { ...IDLE, name, state: 'starting' as const } : [])
    })
  }

  /** The logins to the servers, once those have been started. */
  get logins(): Logins | undefined {
    return this.#mcp?.logins
  }

  messages(server: string, options: { after?: number | undefined }): LoggedMessage[] {
    return this.#mcp?.messages(server, options) ?? []
  }

  async restart(server: string): Promise<void> {
    await this.#started(server).restart(server)
  }

  async stop(server: string): Promise<void> {
    await this.#started(server).stop(server)
  }

  #started(server: string): McpIntegration {
    if (this.#mcp) return this.#mcp
    throw new Error(`There is no MCP server '${server}'`)
  }

  /** Starts them. Resolves when all of them, or the named one, are ready or have failed; never rejects. */
  async ready(name?: string): Promise<void> {
    const mcp = await this.start()
    await mcp?.ready(name)
  }

  /**
   * Waits until a tool appears or no server that may have it is still starting, for at most `limitMs`. Resolves to the name
   * under which it is registered, which may be given as `server__tool` too; to what was given if there is none. Problems of
   * servers are reported only then.
   */
  async waitForTool(given: string, limitMs?: number): Promise<string> {
    const { tools } = this.#options
    if (this.#named(given)) return this.#named(given)?.name ?? given
    await this.#reportingUnless(
      () => this.#named(given) !== undefined,
      async () => {
        const mcp = await this.start()
        if (!mcp) return
        const isOf = (name: string) => given.startsWith(`${name}__`) || given.startsWith(`${name}.`)
        const server = mcp.status().find(({ name }) => isOf(name))?.name
        let stop = () => {}
        const appears = new Promise<void>(resolve => {
          stop = tools.onChange(() => this.#named(given) && resolve())
        })
        await inTime([mcp.ready(server), appears], limitMs)
        stop()
        const tool = this.#named(given)
        const earlier = mcp.status().slice(0, (tool && tools.originOf(tool)?.order) ?? 0)
        await inTime([Promise.all(earlier.map(({ name }) => mcp.tried(name)))], GRACE_FOR_EARLIER_MS)
        this.#awaited.set(given, { limitMs: limitMs ?? 0, server })
      },
    )
    return this.#named(given)?.name ?? given
  }

  #named(given: string): Tool | undefined {
    const { tools } = this.#options
    const isMeant = (tool: Tool) => {
      const { server, name } = tools.originOf(tool) ?? {}
      return server !== undefined && [`${server}__${name}`, `${server}.${name}`].includes(given)
    }
    return tools.findTool(given) ?? tools.getTools().find(isMeant)
  }

  /** While the server that may have it is still starting, a tool that did not appear in time has timed out. */
  readonly answerAwaited: Interceptor = async (call, next) => {
    const wait = call.failure?.code === 'unknown_tool' ? this.#awaited.get(call.name) : undefined
    const starting = wait
      ? this.status().filter(({ name, state }) => state === 'starting' && (wait.server ?? name) === name)
      : []
    if (!wait || starting.length === 0) return next()
    const causes = starting.map(({ name }) => `Server '${name}' is still starting`)
    const failure = refusal(call, 'timeout', `Tool '${call.name}' timed out after ${wait.limitMs} ms`)
    return { ...failure, diagnosis: { causes } }
  }

  /**
   * Like `ready`, but waits only for the first attempt of each server, and for at most `limitMs`. If one is named, problems
   * are reported only if it is not ready.
   */
  async tried(name?: string, limitMs?: number): Promise<void> {
    const wait = async () => {
      const mcp = await this.start()
      if (mcp) await inTime([mcp.tried(name)], limitMs)
    }
    if (name === undefined) return wait()
    const isReady = () => this.status().some(server => server.name === name && server.state === 'ready')
    await this.#reportingUnless(isReady, wait)
  }

  /** Holds back reports during `wait`, and passes them on only if `isThere()` is false afterwards. */
  async #reportingUnless(isThere: () => boolean, wait: () => Promise<unknown>): Promise<void> {
    this.#held ??= []
    await wait()
    const held = this.#held ?? []
    this.#held = undefined
    if (!isThere()) for (const report of held) this.#options.report(report)
  }

  #report(text: string): void {
    if (this.#held) this.#held.push(text)
    else this.#options.report(text)
  }

  /** How a server is configured. */
  async entryOf(server: string): Promise<ServerEntry | undefined> {
    return this.#entries(await this.#home)[server]
  }

  /** The home of the built-in example, started now if necessary; `undefined` if there is none. */
  home(): Promise<ExampleHome | undefined> {
    const { file } = this.#options.configuration.current
    this.#home ??= file === undefined ? this.#startHome() : Promise.resolve(undefined)
    return this.#home
  }

  /** If that fails, all other tools still work. */
  async #startHome(): Promise<ExampleHome | undefined> {
    const { homeProgram: program, closing: signal } = this.#options
    try {
      const home = await startExampleHome({ program, signal })
      if (!home) this.#report(MISSING_HOME)
      return home
    } catch (error) {
      if (signal.aborted) return undefined
      this.problem = (error as Error).message
      this.#report(`The example home could not be started; continuing with local tools only: ${this.problem}`)
      return undefined
    }
  }

  async apply({ config, file }: ResolvedConfig, { brokenServers }: ResolvedConfig): Promise<void> {
    if (!this.#starting) return
    await this.#starting
    this.#reportBroken(brokenServers)
    const home = file === undefined ? await this.home() : undefined
    if (this.#mcp) this.#mcp.apply({ ...this.#patience(config), servers: this.#entries(home) })
    else this.#starting = this.#begin(home)
    if (!home) await this.#endHome()
  }

  #reportBroken(before: Readonly<Record<string, string>> = {}): void {
    for (const [name, problem] of Object.entries(this.#options.configuration.current.brokenServers))
      if (before[name] !== problem) this.#report(`❌ Server '${name}' cannot be started: ${problem}`)
  }

  /** The servers to start: the usable ones of the configuration, and that of the example home. */
  #entries(home: ExampleHome | undefined): Record<string, ServerEntry> {
    const { config, brokenServers, file } = this.#options.configuration.current
    const configured = Object.entries(config.mcpServers ?? {})
    const usable = configured.filter(([name]) => !Object.hasOwn(brokenServers, name))
    const entries = usable.map(([name, entry]): [string, ServerEntry] => [name, withStarter(entry, file)])
    return { ...Object.fromEntries(entries), ...(home && { [ZWAVE_SERVER]: home.server }) }
  }

  #patience({ mcp }: ToolpostConfig): ToolpostConfig['mcp'] {
    return this.#options.triesOnce ? { ...mcp, retry: { ...mcp?.retry, attempts: 1 } } : mcp
  }

  async close(): Promise<void> {
    try {
      const mcp = await this.#starting
      await mcp?.close()
    } finally {
      await this.#endHome()
    }
  }

  async #endHome(): Promise<void> {
    const home = await this.#home
    this.#home = this.problem = undefined
    await home?.close()
  }

  async #open(): Promise<McpIntegration | undefined> {
    await this.#options.configuration.answerInputs()
    this.#reportBroken()
    return this.#begin(await this.home())
  }

  /** If the servers cannot even be created, that is reported as a problem, and the rest continues. */
  async #begin(home: ExampleHome | undefined): Promise<McpIntegration | undefined> {
    const { tools, catalog, sample, logger, onStatus, closing, configuration } = this.#options
    try {
      const servers = this.#entries(home)
      if (Object.keys(servers).length === 0) return undefined
      const { McpIntegration } = await import('../mcp/index.ts')
      if (closing.aborted) return undefined
      const mcp = new McpIntegration({
        ...this.#patience(configuration.config),
        ...{ servers, catalog, sample, logger, loginsFolder: stateFolder(configuration.current.file) },
        onReport: report => this.#report(report),
      })
      mcp.on('server', onStatus)
      mcp.start(tools)
      this.#mcp = mcp
      return mcp
    } catch (error) {
      this.problem = describeThrown(error)
      return undefined
    }
  }
}

/** A server that has not started yet. */
const IDLE = {
  ...{ attempts: 0, tools: [], error: undefined, stderr: '', exitCode: null, pid: undefined, junkLines: 0 },
  ...{ nextAttemptAt: undefined, readyAfterMs: undefined, protocolVersion: undefined },
}

/** The configurations of the Toolpost processes above this one, outermost first. */
const STARTED_BY = 'TOOLPOST_STARTED_BY'

/**
 * Makes a server start in the folder of its configuration, wherever Toolpost itself was started, and passes it the file's
 * path, since it may be another Toolpost.
 */
function withStarter(entry: ServerEntry, file: string | undefined): ServerEntry {
  if (entry.command === undefined || file === undefined) return entry
  const env = { ...entry.env, [STARTED_BY]: [...starters(), file].join(delimiter) }
  const { sandbox } = entry
  if (!sandbox) return { cwd: dirname(file), ...entry, env }
  const state = stateFolder(file)
  // Only a folder that exists can be hidden.
  mkdirSync(state, { recursive: true, mode: 0o700 })
  return {
    cwd: dirname(file),
    ...entry,
    env,
    sandbox: { ...sandbox, hide: [...(sandbox.hide ?? []), state] },
  }
}

/** Whether a Toolpost above this one has the same configuration: each would start another, endlessly. */
export function isStartedByItself(file: string | undefined): boolean {
  return file !== undefined && starters().includes(file)
}

function starters(): string[] {
  return process.env[STARTED_BY]?.split(delimiter) ?? []
}

/** Resolves with the first of `events`, or after `limitMs`. */
async function inTime(events: readonly Promise<unknown>[], limitMs: number | undefined): Promise<void> {
  const limit = limitMs === undefined ? [] : [delay(limitMs, undefined, { ref: false })]
  await Promise.race([...events, ...limit])
}
