import { mkdirSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import type { Interceptor } from '../executor/chain.ts'
import { refusal } from '../interceptors/refuse.ts'
import type { Catalog, McpIntegration, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { Sample } from '../tools/caller.ts'
import type { Tool } from '../tools/tool.ts'
import { MAX_TIMER_MS, unlessAborted } from '../util/clock.ts'
import { ownValue } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { Part, ProjectContext } from './configuration.ts'
import { type ExampleHome, startExampleHome, ZWAVE_PACKAGE, ZWAVE_SERVER } from './example-home.ts'
import { stateFolder } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'

/** How long to wait for an earlier server that has not failed yet, since it takes precedence for a name. */
const GRACE_FOR_EARLIER_MS = 500

const MISSING_HOME = `The example home is not installed; continuing with local tools only. To add it, run: npm i ${ZWAVE_PACKAGE}`

interface ServersOptions extends ProjectContext {
  catalog: Catalog
  sample: Sample
  onStatus(status: ServerStatus): void
}

/** How long to wait: until `signal` aborts, and at most `limitMs`. */
export interface WaitOptions {
  limitMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** The MCP servers of a project, and the home of the built-in example: started when they are first needed. */
export class Servers implements Part {
  readonly #options: ServersOptions
  #home: Promise<ExampleHome | undefined> | undefined
  /** Tools that did not appear in time, with how long they were waited for. */
  readonly #awaited = new Map<string, number>()
  /** Reports while one tool is waited for: they matter only if it is not found. */
  #held: string[] | undefined
  starting: Promise<void> | undefined
  mcp: McpIntegration | undefined
  problem: string | undefined

  constructor(options: ServersOptions) {
    this.#options = options
  }

  async #start(): Promise<McpIntegration | undefined> {
    if (!this.#options.closing.aborted) this.starting ??= this.#open()
    await this.starting
    return this.mcp
  }

  /** Starts what is configured now. If the servers cannot even be created, that is a problem, and the rest continues. */
  async #open(before?: ResolvedConfig): Promise<void> {
    const { configuration, options, closing, onStatus, executor } = this.#options
    const { brokenServers, file, config } = configuration.current
    for (const [name, problem] of Object.entries(brokenServers))
      if (before?.brokenServers[name] !== problem)
        this.#report(`❌ Server '${name}' cannot be started: ${problem}`)
    if (file === undefined && !config.mcpServers?.[ZWAVE_SERVER]) this.#report(MISSING_HOME)
    this.problem = undefined
    try {
      const home = await this.home()
      const entries = Object.keys(config.mcpServers ?? {}).flatMap(name => {
        const entry = this.entryOf(name)
        return entry ? [[name, startedHere(entry, file, home)]] : []
      })
      const retry = options.triesOnce ? { ...config.mcp?.retry, attempts: 1 } : config.mcp?.retry
      const settings = { ...config.mcp, retry, servers: Object.fromEntries(entries) }
      if (this.mcp) return this.mcp.apply(settings)
      if (entries.length === 0) return
      const { McpIntegration } = await import('../mcp/index.ts')
      if (closing.aborted) return
      const { catalog, sample, logger } = this.#options
      const host = { catalog, sample, logger, loginsFolder: stateFolder(file), onReport: this.#report }
      const mcp = new McpIntegration({ ...settings, ...host })
      mcp.on('server', onStatus)
      mcp.start(executor.tools)
      this.mcp = mcp
    } catch (error) {
      this.problem = describeThrown(error)
    }
  }

  /** How a server is configured; `undefined` if there is none, or it cannot be started. */
  entryOf(name: string): ServerEntry | undefined {
    const { brokenServers, config } = this.#options.configuration.current
    return Object.hasOwn(brokenServers, name) ? undefined : ownValue(config.mcpServers ?? {}, name)
  }

  /** Every server in the order of the configuration, including those that have not started yet. */
  status(): ServerStatus[] {
    const { configuration, closing } = this.#options
    const { config, brokenServers } = configuration.current
    const isStarting = this.starting && !this.mcp && !closing.aborted && this.problem === undefined
    const running = new Map(this.mcp?.status().map(status => [status.name, status]))
    return Object.keys(config.mcpServers ?? {}).flatMap(name => {
      const error = ownValue(brokenServers, name)
      if (error !== undefined) return { ...IDLE, name, state: 'failed', error }
      return running.get(name) ?? (isStarting ? { ...IDLE, name, state: 'starting' } : [])
    })
  }

  async ready(name?: string): Promise<void> {
    await (await this.#start())?.ready(name)
  }

  /** Waits only for the first attempt of each server, or of the named one. */
  async tried(name?: string, limitMs?: number): Promise<void> {
    const mcp = await this.#start()
    if (mcp) await inTime(mcp.tried(name), { limitMs })
  }

  /** Resolves to the registered name of a tool, given as `tool` or `server__tool`, once it appears; else to what was given. */
  async waitForTool(given: string, limitMs?: number): Promise<string> {
    const known = this.#named(given)
    if (known) return known.name
    const held: string[] = []
    this.#held = held
    const mcp = await this.#start()
    if (mcp) {
      await this.waitWhileStarting(given, { limitMs })
      const tool = this.#named(given)
      const { order = 0 } = (tool && this.#options.executor.tools.originOf(tool)) ?? {}
      const earlier = mcp.status().slice(0, order)
      const tried = Promise.all(earlier.map(({ name }) => mcp.tried(name)))
      await inTime(tried, { limitMs: GRACE_FOR_EARLIER_MS })
      this.#awaited.set(given, limitMs ?? 0)
    }
    this.#held = undefined
    const found = this.#named(given)
    if (!found) held.forEach(this.#report)
    return found?.name ?? given
  }

  /** Waits until a tool appears or no server that may have it is starting for the first time; starts and reports nothing. */
  async waitWhileStarting(given: string, options: WaitOptions): Promise<void> {
    await this.starting
    const { mcp } = this
    if (!mcp?.status().some(({ state }) => state === 'starting') || this.#named(given)) return
    let stop = () => {}
    const appears = new Promise<void>(resolve => {
      stop = this.#options.executor.tools.onChange(() => this.#named(given) && resolve())
    })
    await inTime(Promise.race([mcp.ready(mcp.status().find(isOf(given))?.name), appears]), options)
    stop()
  }

  #named(given: string): Tool | undefined {
    const { tools } = this.#options.executor
    const isMeant = (tool: Tool) => {
      const { server, name } = tools.originOf(tool) ?? {}
      return server !== undefined && [`${server}__${name}`, `${server}.${name}`].includes(given)
    }
    return tools.findTool(given) ?? tools.getTools().find(isMeant)
  }

  /** While the server that may have it is still starting, a tool that did not appear in time has timed out. */
  readonly startingServers: Interceptor = (call, next) => {
    const limitMs = call.failure?.code === 'unknown_tool' ? this.#awaited.get(call.name) : undefined
    const servers = limitMs === undefined ? [] : this.status()
    const own = servers.filter(isOf(call.name))
    const starting = (own.length > 0 ? own : servers).filter(({ state }) => state === 'starting')
    if (starting.length === 0) return next()
    const causes = starting.map(({ name }) => `Server '${name}' is still starting`)
    const failure = refusal(call, 'timeout', `Tool '${call.name}' timed out after ${limitMs} ms`)
    return Promise.resolve({ ...failure, diagnosis: { causes } })
  }

  readonly #report = (text: string): void =>
    this.#held ? void this.#held.push(text) : this.#options.report(text)

  /** The home of the built-in example, started now if necessary; if that fails, its server tries by itself. */
  async home(): Promise<ExampleHome | undefined> {
    const { configuration, closing } = this.#options
    const { file, config } = configuration.current
    if (file !== undefined || !config.mcpServers?.[ZWAVE_SERVER] || closing.aborted) return undefined
    this.#home ??= startExampleHome().catch(error => {
      this.#report(`The example home could not be started: ${describeThrown(error)}`)
      return undefined
    })
    return this.#home
  }

  async apply({ file }: ResolvedConfig, before: ResolvedConfig): Promise<void> {
    if (!this.starting) return
    this.starting = this.starting.then(() => this.#open(before))
    await this.starting
    if (file !== undefined) await this.#endHome()
  }

  async close(): Promise<void> {
    await this.starting
    await Promise.resolve(this.mcp?.close()).finally(() => this.#endHome())
  }

  async #endHome(): Promise<void> {
    const home = await this.#home
    this.#home = undefined
    await home?.close()
  }
}

const IDLE = {
  ...{ attempts: 0, tools: [], error: undefined, stderr: '', exitCode: null, pid: undefined, junkLines: 0 },
  ...{ nextAttemptAt: undefined, readyAfterMs: undefined, protocolVersion: undefined },
}

function isOf(tool: string): (server: { name: string }) => boolean {
  return ({ name }) => tool.startsWith(`${name}__`) || tool.startsWith(`${name}.`)
}

/** The configurations of the Toolpost processes above this one, outermost first. */
const STARTED_BY = 'TOOLPOST_STARTED_BY'
const starters = () => process.env[STARTED_BY]?.split(delimiter) ?? []

/** A server starts in the folder of its configuration, and gets the file's path, since it may be another Toolpost. */
function startedHere(entry: ServerEntry, file: string | undefined, home?: ExampleHome): ServerEntry {
  if (entry.command === undefined) return entry
  const { sandbox, env } = entry
  if (file === undefined)
    return { ...entry, env: { ...env, ...(home && { MQTT_BROKER_URL: home.brokerUrl }) } }
  const state = stateFolder(file)
  // Only a folder that exists can be hidden.
  if (sandbox) mkdirSync(state, { recursive: true, mode: 0o700 })
  const hidden = sandbox && { sandbox: { ...sandbox, hide: [...(sandbox.hide ?? []), state] } }
  const by = { [STARTED_BY]: [...starters(), file].join(delimiter) }
  return { cwd: dirname(file), ...entry, env: { ...env, ...by }, ...hidden }
}

/** Whether a Toolpost above this one has the same configuration: each would start another, endlessly. */
export function isStartedByItself(file: string | undefined): boolean {
  return file !== undefined && starters().includes(file)
}

/** Waits for `work`; never rejects. */
async function inTime(
  work: Promise<unknown>,
  { limitMs = MAX_TIMER_MS, signal }: WaitOptions,
): Promise<void> {
  const over = [signal, AbortSignal.timeout(Math.min(limitMs, MAX_TIMER_MS))]
  await unlessAborted(work, AbortSignal.any(over.filter(each => each !== undefined))).catch(() => {})
}
