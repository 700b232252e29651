import { dirname, join } from 'node:path'
import type { Interceptor } from '../executor/chain.ts'
import * as interceptors from '../interceptors/index.ts'
import { notifier } from '../interceptors/notify.ts'
import { changeText } from '../interceptors/pins.ts'
import { EarlierCalls } from '../interceptors/policy.ts'
import { secretsInAddress } from '../logging/config-secrets.ts'
import { isSecretKey, removeFromLogs } from '../logging/redact.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { exportAddress } from '../telemetry/export.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { ownValue } from '../util/guards.ts'
import { writePrivate } from '../util/private-file.ts'
import { fitsGlob } from '../util/text.ts'
import { problemIn } from './check.ts'
import type { ToolpostConfig } from './config.ts'
import { differs, type ProjectContext } from './configuration.ts'
import { readToken, runningGateway, stateFolder } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'
import { SAMPLING_LIMIT, samplingNames } from './sampling.ts'
import { configSource, readText } from './source.ts'

/** Outermost first. */
const NAMES = ['trace', 'secretGuard', 'pins', 'policy', 'limits', 'breaker'] as const
type Current = { [Name in (typeof NAMES)[number]]?: Interceptor | undefined } & {
  breaker?: Breaker | undefined
}
type Breaker = interceptors.Breaker

/** The interceptors around every call of a project. Throws a ConfigError if the remembered decisions cannot be read. */
export function createControl(
  { executor, configuration, report, closing }: ProjectContext,
  onBreaker: (server: string) => void,
) {
  const { tools } = executor
  const { file } = configuration.current
  let resolved = configuration.current
  let current: Current = {}
  const away = new Set<string>()
  const earlier = new EarlierCalls()
  /** What this program's own tools and those of other workers say is relied on. */
  const isTrusted = (server: string) =>
    (ownValue(resolved.config.mcpServers ?? {}, server) ?? { trust: true }).trust === true
  const approvals = new interceptors.Approvals({
    onRemember: decision => {
      try {
        rememberDecision(resolved.file, decision)
      } catch (error) {
        const problem = `could not be saved and lasts only until Toolpost stops: ${(error as Error).message}`
        report(`⚠️ The decision on '${decision.tool}' ${problem}`)
        throw error
      }
    },
  })
  const settings = () => resolved.config.approvals?.notify
  const gateway = () => runningGateway(stateFolder(file))
  approvals.onChange(notifier({ settings, gateway, closing, report }))
  const pins = new interceptors.Pins({
    file: file === undefined ? undefined : join(stateFolder(file), 'pins.json'),
    isTrusted,
    onChange: change => report(`⚠️ ${changeText(change)}`),
    warn: report,
  })
  tools.onChange(() => pins.see(tools.getTools(), tool => tools.originOf(tool)))
  const breakerOf = ({ mcpServers = {}, limits }: ToolpostConfig) => {
    const wanted = Object.keys(mcpServers).length > 0 && (limits?.breaker ?? {})
    return wanted ? interceptors.breaker({ ...wanted, onChange: onBreaker }) : undefined
  }
  /** The counts of limits and breakers are kept, unless their configuration changed. */
  const prepare = (after: ResolvedConfig, before?: ResolvedConfig) => {
    const { config, autoApprove } = after
    const isNew = (...keys: (keyof ToolpostConfig)[]) => !before || differs(before, after, ...keys)
    const remembered = rememberedDecisions(after.file)
    const asked = samplingNames(config)
    const sampling = { tools: asked, then: 'ask', because: 'the server wants to use your model' } as const
    const rules = [...(config.policy ?? []), ...(asked.length > 0 ? [sampling] : [])]
    const next: Current = {
      trace: isTraced(config) ? interceptors.trace(config.trace || {}) : undefined,
      secretGuard: interceptors.secretGuard(ownedSecrets(after)),
      pins: interceptors.pins(pins),
      policy: interceptors.policy(rules, { approvals, isTrusted, earlier }),
      limits: isNew('limits', 'mcpServers') ? limitsOf(config) : current.limits,
      breaker: (isNew('limits') ? undefined : current.breaker) ?? breakerOf(config),
    }
    // By the server's own name for the tool, whatever name it is registered under.
    const isApproved = ({ name, server = '' }: { name: string; server?: string | undefined }) =>
      ownValue(autoApprove, server)?.some(each => [each, `${server}__${each}`].includes(name)) === true
    return () => {
      approvals.update({ timeoutMs: config.approvals?.timeoutMs, remembered, isApproved })
      pins.mode = config.pins ?? 'hold'
      resolved = after
      current = next
    }
  }
  prepare(resolved)()
  for (const name of NAMES) {
    const interceptor: Interceptor = (call, next) => current[name]?.(call, next) ?? next()
    executor.use(Object.defineProperty(interceptor, 'name', { value: name }))
  }
  const resetBreaker = (server: string) => current.breaker?.reset(server)
  const guardNewToken = () => {
    current.secretGuard = interceptors.secretGuard(ownedSecrets(resolved))
  }
  return {
    /** Of the project. */
    api: { approvals, pins, guardNewToken },
    prepare,
    resetBreaker,
    close: () => approvals.close(),
    /** The breaker of a server that comes back is reset: earlier failures no longer count. */
    noteServer({ name, state }: ServerStatus) {
      if (state !== 'ready') away.add(name)
      else if (away.delete(name)) resetBreaker(name)
    },
    withBreaker: (status: ServerStatus): ServerStatus =>
      current.breaker ? { ...status, breaker: current.breaker.status(status.name) } : status,
  }
}

/** The patterns in rules, clients and limits that match no tool, in words: a misspelt rule guards nothing. */
export function unmatchedPatterns(config: ToolpostConfig, tools: ToolManager): string[] {
  const { policy = [], clients = {}, limits } = config
  const isThere = (pattern: string) =>
    tools.getTools().some(tool => fitsTool(pattern, tool, tools.originOf(tool)?.server)) ||
    samplingNames(config).some(name => fitsGlob(name, pattern))
  const places = [
    ...policy.map(({ tools = [], after = [] }, index) => ({ [`policy[${index}]`]: [tools, after].flat() })),
    ...Object.entries(clients).map(([name, { tools = [] }]) => ({ [`clients.${name}`]: tools })),
    { 'limits.tools': Object.keys(limits?.tools ?? {}) },
  ]
  return places
    .flatMap(place => Object.entries<readonly string[]>(place))
    .flatMap(([place, patterns]) =>
      patterns
        .filter(pattern => pattern !== 'outside' && !isThere(pattern))
        .map(pattern => `${place} names '${pattern}', but there is no such tool`),
    )
}

/** Whether calls and models are traced: if the configuration or the environment asks for it, unless `trace` is `false`. */
export function isTraced({ trace }: ToolpostConfig): boolean {
  return trace !== false && (trace !== undefined || exportAddress() !== undefined)
}

function limitsOf(config: ToolpostConfig): Interceptor | undefined {
  const { breaker: _, ...rules } = config.limits ?? {}
  const sampling = Object.fromEntries(samplingNames(config).map(name => [name, SAMPLING_LIMIT]))
  const tools = { ...sampling, ...rules.tools }
  return Object.keys({ ...rules, ...tools }).length > 0 ? interceptors.limits({ ...rules, tools }) : undefined
}

/** A path or an address, as in `${HOME}/data`, is often an argument, and no secret in itself. */
const PLACE = /^(?:[./~]|[A-Za-z]:\\|[a-z][a-z+.-]*:\/\/)/
const SCHEME = /^(?:bearer|basic|token)\s+/i

/** The secrets of a configuration and where they are set, each with the server that may receive it. */
function ownedSecrets({ config, file, fromEnvironment }: ResolvedConfig): interceptors.OwnedSecret[] {
  const { clients = {}, gateway, models, mcpServers = {} } = config
  const own = [
    ['gateway.token', gateway?.token],
    ['.toolpost/token', file === undefined ? undefined : readToken(stateFolder(file))],
    ['models.openai.apiKey', models?.openai?.apiKey],
    ...Object.entries(clients).map(([name, { token }]) => [`clients.${name}.token`, token]),
    ...Object.entries(process.env).filter(([name]) => /_API_KEY$|^TOOLPOST_TOKEN$/.test(name)),
  ] as [string, unknown][]
  const ofServers = Object.entries(mcpServers).flatMap(([server, entry]) => {
    const [place, settings = {}] = entry.url === undefined ? ['env', entry.env] : ['headers', entry.headers]
    return Object.entries(settings).flatMap(([name, text]) => {
      const key = `mcpServers.${server}.${place}.${name}`
      const value = text.replace(SCHEME, '')
      const isFilled = fromEnvironment[server]?.includes(name) === true && !PLACE.test(value)
      const values = isSecretKey(name) || isFilled ? [value] : secretsInAddress(value)
      return values.map(each => ({ key, value: each, server }))
    })
  })
  const ours = own.flatMap(([key, value]) => (typeof value === 'string' ? [{ key, value }] : []))
  removeFromLogs(ours.map(({ value }) => value))
  return [...ofServers, ...ours]
}

/** Permanent decisions: rules in a file next to the configuration, which itself is never written to. */
const DECISIONS_FILE = 'toolpost.approvals.json'
const decisionsFile = (configFile: string | undefined) =>
  join(configFile === undefined ? process.cwd() : dirname(configFile), DECISIONS_FILE)

/** A rule of the policy, but for a single tool by its exact name. */
type DecisionRule = Pick<interceptors.RememberedDecision, 'then' | 'definition'> & {
  tools: string
  because?: string
} & { [Condition in 'servers' | 'from' | 'callers']?: [string] }

/** Throws a ConfigError if the file is malformed: an overlooked rule could be one that denies. */
function readRules(configFile: string | undefined): DecisionRule[] {
  const source = configSource(
    DECISIONS_FILE,
    readText(DECISIONS_FILE, decisionsFile(configFile)) ?? '{"rules":[]}',
  )
  const wrong = problemIn(source.value, 'decisions')
  if (wrong) throw source.error(wrong)
  return (source.value as { rules: DecisionRule[] }).rules
}

function rememberedDecisions(configFile: string | undefined): interceptors.RememberedDecision[] {
  return readRules(configFile).map(({ tools: tool, servers, from, callers, because = '', ...rule }) => {
    return { tool, server: servers?.[0], origin: from?.[0], caller: callers?.[0], because, ...rule }
  })
}

function rememberDecision(configFile: string | undefined, decision: interceptors.RememberedDecision): void {
  const { tool: tools, server, origin, caller, ...rest } = decision
  const listed = (name: string | undefined) => (name === undefined ? undefined : [name])
  const scope = { servers: listed(server), from: listed(origin), callers: listed(caller) }
  // The file may have been edited, or changed by another process.
  const rules = [{ tools, ...scope, ...rest }, ...readRules(configFile)]
  writePrivate(decisionsFile(configFile), `${JSON.stringify({ rules }, null, 2)}\n`)
}
