import { mkdirSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import type { Interceptor } from '../executor/chain.ts'
import { refusal } from '../interceptors/refuse.ts'
import type { McpIntegration, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { Sample } from '../tools/caller.ts'
import type { Tool } from '../tools/tool.ts'
import { MAX_TIMER_MS, unlessAborted } from '../util/clock.ts'
import { ownValue } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { ProjectContext } from './configuration.ts'
import { type ExampleHome, startExampleHome, ZWAVE_PACKAGE, ZWAVE_SERVER } from './example-home.ts'
import { stateFolder } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'

/** How long to wait for an earlier server that has not failed yet, since it takes precedence for a name. */
const GRACE_FOR_EARLIER_MS = 500

const MISSING_HOME = `The example home is not installed; continuing with local tools only. To add it, run: npm i ${ZWAVE_PACKAGE}`

type WaitOptions = { limitMs?: number | undefined; signal?: AbortSignal | undefined }

/** The MCP servers of a project, and the home of the built-in example: started when they are first needed. */
export function createServers(
  context: ProjectContext,
  sample: Sample,
  onStatus: (status: ServerStatus) => void,
) {
  const { configuration, options, closing, executor, logger } = context
  const { tools } = executor
  let homeStarting: Promise<ExampleHome | undefined> | undefined
  let starting: Promise<void> | undefined
  let mcp: McpIntegration | undefined
  let problem: string | undefined
  /** Tools that did not appear in time, with how long they were waited for. */
  const awaited = new Map<string, number>()
  /** Reports while one tool is waited for: they matter only if it is not found. */
  let held: string[] | undefined
  const report = (text: string) => (held ? void held.push(text) : context.report(text))

  /** The home of the built-in example, started now if necessary; if that fails, its server tries by itself. */
  const home = async (): Promise<ExampleHome | undefined> => {
    const { file, config } = configuration.current
    if (file !== undefined || !config.mcpServers?.[ZWAVE_SERVER] || closing.aborted) return undefined
    homeStarting ??= startExampleHome().catch(error => {
      report(`The example home could not be started: ${describeThrown(error)}`)
      return undefined
    })
    return homeStarting
  }
  const endHome = async () => {
    const started = await homeStarting
    homeStarting = undefined
    await started?.close()
  }
  const entryOf = (name: string): ServerEntry | undefined => {
    const { brokenServers, config } = configuration.current
    return Object.hasOwn(brokenServers, name) ? undefined : ownValue(config.mcpServers ?? {}, name)
  }

  /** Starts what is configured now. If the servers cannot even be created, that is a problem, and the rest continues. */
  const open = async (before?: ResolvedConfig): Promise<void> => {
    const { brokenServers, file, config } = configuration.current
    for (const [name, why] of Object.entries(brokenServers))
      if (before?.brokenServers[name] !== why) report(`❌ Server '${name}' cannot be started: ${why}`)
    if (file === undefined && !config.mcpServers?.[ZWAVE_SERVER]) report(MISSING_HOME)
    problem = undefined
    try {
      const broker = await home()
      const entries = Object.keys(config.mcpServers ?? {}).flatMap(name => {
        const entry = entryOf(name)
        return entry ? [[name, startedHere(entry, file, broker)]] : []
      })
      const retry = options.triesOnce ? { ...config.mcp?.retry, attempts: 1 } : config.mcp?.retry
      const settings = { ...config.mcp, retry, servers: Object.fromEntries(entries) }
      if (mcp) return mcp.apply(settings)
      if (entries.length === 0) return
      const { McpIntegration } = await import('../mcp/index.ts')
      if (closing.aborted) return
      const host = {
        catalog: context.api.catalog,
        sample,
        logger,
        loginsFolder: stateFolder(file),
        onReport: report,
      }
      mcp = new McpIntegration({ ...settings, ...host })
      mcp.on('server', onStatus)
      mcp.start(tools)
    } catch (error) {
      problem = describeThrown(error)
    }
  }
  const start = async () => {
    if (!closing.aborted) starting ??= open()
    await starting
    return mcp
  }

  /** Every server in the order of the configuration, including those that have not started yet. */
  const status = (): ServerStatus[] => {
    const { config, brokenServers } = configuration.current
    const isStarting = starting && !mcp && !closing.aborted && problem === undefined
    const running = new Map(mcp?.status().map(each => [each.name, each]))
    return Object.keys(config.mcpServers ?? {}).flatMap(name => {
      const error = ownValue(brokenServers, name)
      if (error !== undefined) return { ...IDLE, name, state: 'failed', error }
      return running.get(name) ?? (isStarting ? { ...IDLE, name, state: 'starting' } : [])
    })
  }
  const named = (given: string) => {
    const isMeant = (tool: Tool) => {
      const { server, name } = tools.originOf(tool) ?? {}
      return server !== undefined && [`${server}__${name}`, `${server}.${name}`].includes(given)
    }
    return tools.findTool(given) ?? tools.getTools().find(isMeant)
  }

  /** Waits for a tool that is not registered yet, but only while servers that may have it are starting for the first time. */
  const waitWhileStarting = async (given: string, wait: WaitOptions): Promise<void> => {
    await starting
    if (!mcp?.status().some(({ state }) => state === 'starting') || named(given)) return
    let stop = () => {}
    const appears = new Promise<void>(resolve => {
      stop = tools.onChange(() => named(given) && resolve())
    })
    await inTime(Promise.race([mcp.ready(mcp.status().find(isOf(given))?.name), appears]), wait)
    stop()
  }
  /** Resolves to the registered name of a tool, given as `tool` or `server__tool`, once it appears; else to what was given. */
  const waitForTool = async (given: string, limitMs?: number): Promise<string> => {
    const known = named(given)
    if (known) return known.name
    const reports: string[] = []
    held = reports
    const servers = await start()
    if (servers) {
      await waitWhileStarting(given, { limitMs })
      const tool = named(given)
      const { order = 0 } = (tool && tools.originOf(tool)) ?? {}
      const earlier = servers.status().slice(0, order)
      const tried = Promise.all(earlier.map(({ name }) => servers.tried(name)))
      await inTime(tried, { limitMs: GRACE_FOR_EARLIER_MS })
      awaited.set(given, limitMs ?? 0)
    }
    held = undefined
    const found = named(given)
    if (!found) reports.forEach(report)
    return found?.name ?? given
  }
  /** While the server that may have it is still starting, a tool that did not appear in time has timed out. */
  const startingServers: Interceptor = (call, next) => {
    const limitMs = call.failure?.code === 'unknown_tool' ? awaited.get(call.name) : undefined
    const servers = limitMs === undefined ? [] : status()
    const own = servers.filter(isOf(call.name))
    const late = (own.length > 0 ? own : servers).filter(({ state }) => state === 'starting')
    if (late.length === 0) return next()
    const causes = late.map(({ name }) => `Server '${name}' is still starting`)
    const failure = refusal(call, 'timeout', `Tool '${call.name}' timed out after ${limitMs} ms`)
    return Promise.resolve({ ...failure, diagnosis: { causes } })
  }
  /** Resolves when the servers, or the named one, have been tried once. */
  const tried = async (name?: string, limitMs?: number): Promise<void> => {
    const servers = await start()
    if (servers) await inTime(servers.tried(name), { limitMs })
  }
  const messages = (server: string, which?: { after?: number | undefined }) =>
    mcp?.messages(server, which) ?? []
  const logins = () => mcp?.logins
  const stop = async (server: string) => mcp?.stop(server)
  return {
    /** Of the project. */
    api: { exampleHome: home, entryOf, waitWhileStarting, tried, messages, logins, stop },
    status,
    waitForTool,
    startingServers,
    problem: () => problem,
    isStarted: () => starting !== undefined,
    ready: async (name?: string) => (await start())?.ready(name),
    restart: async (server: string) => mcp?.restart(server),
    async apply({ file }: ResolvedConfig, before: ResolvedConfig): Promise<void> {
      if (!starting) return
      starting = starting.then(() => open(before))
      await starting
      if (file !== undefined) await endHome()
    },
    async close(): Promise<void> {
      await starting
      await Promise.resolve(mcp?.close()).finally(endHome)
    },
  }
}

const IDLE = {
  attempts: 0,
  tools: [],
  error: undefined,
  stderr: '',
  exitCode: null,
  pid: undefined,
  junkLines: 0,
  nextAttemptAt: undefined,
  protocolVersion: undefined,
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

async function inTime(work: Promise<unknown>, { limitMs = MAX_TIMER_MS, signal }: WaitOptions) {
  const over = [signal, AbortSignal.timeout(Math.min(limitMs, MAX_TIMER_MS))]
  await unlessAborted(work, AbortSignal.any(over.filter(each => each !== undefined))).catch(() => {})
}
