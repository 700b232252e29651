import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Interceptor } from '../executor/chain.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import {
  Approvals,
  type Breaker,
  breaker,
  limits,
  type OwnedSecret,
  Pins,
  pins,
  policy,
  type RememberedDecision,
  secretGuard,
  trace,
} from '../interceptors/index.ts'
import { changeText } from '../interceptors/pins.ts'
import { EarlierCalls } from '../interceptors/policy.ts'
import { secretsInAddress } from '../logging/config-secrets.ts'
import { isSecretKey, removeFromLogs } from '../logging/redact.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { exportAddress } from '../telemetry/export.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { ownValue } from '../util/guards.ts'
import { fitsGlob } from '../util/text.ts'
import { problemIn } from './check.ts'
import { ConfigError, type ToolpostConfig } from './config.ts'
import { differs, type Part } from './configuration.ts'
import { readToken, stateFolder, writePrivate } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'
import { samplingLimits, samplingNames, samplingRules } from './sampling.ts'
import { ConfigSource } from './source.ts'

interface ControlEvents {
  breaker(server: string): void
  warn(text: string): void
}

/** Outermost first. */
const NAMES = ['trace', 'secretGuard', 'pins', 'policy', 'limits', 'breaker'] as const
type Interceptors = Record<(typeof NAMES)[number], Interceptor | undefined> & { breaker: Breaker | undefined }

/** The interceptors around every call of a project, according to its configuration. */
export class Control implements Part {
  readonly approvals: Approvals
  readonly pins: Pins
  readonly #tell: ControlEvents
  #resolved: ResolvedConfig
  #current: Interceptors | undefined
  readonly #away = new Set<string>()

  /** Throws a ConfigError if the remembered decisions cannot be read. */
  constructor(executor: ToolExecutor, resolved: ResolvedConfig, tell: ControlEvents) {
    this.#tell = tell
    this.#resolved = resolved
    this.approvals = new Approvals({
      onRemember: decision => {
        try {
          rememberDecision(this.#resolved.file, decision)
        } catch (error) {
          const problem = `could not be saved and lasts only until Toolpost stops: ${(error as Error).message}`
          tell.warn(`⚠️ The decision on '${decision.tool}' ${problem}`)
          throw error
        }
      },
    })
    const { file } = resolved
    const { tools } = executor
    this.pins = new Pins({
      file: file === undefined ? undefined : join(stateFolder(file), 'pins.json'),
      isTrusted: this.#isTrusted,
      onChange: change => tell.warn(`⚠️ ${changeText(change)}`),
      warn: tell.warn,
    })
    tools.onChange(() => this.pins.see(tools.getTools(), tool => tools.originOf(tool)))
    this.prepare(resolved)()
    for (const name of NAMES) {
      const current: Interceptor = (call, next) => this.#current?.[name]?.(call, next) ?? next()
      executor.use(Object.defineProperty(current, 'name', { value: name }))
    }
  }

  readonly #earlier = new EarlierCalls()

  /** What this program's own tools and those of other workers say is relied on. */
  readonly #isTrusted = (server: string): boolean =>
    (ownValue(this.#resolved.config.mcpServers ?? {}, server) ?? { trust: true }).trust === true

  /** The counts of limits and breakers are kept, unless their configuration changed. */
  prepare(after: ResolvedConfig, before?: ResolvedConfig): () => void {
    const { config, file, autoApprove } = after
    const isNew = (...keys: (keyof ToolpostConfig)[]) => !before || differs(before, after, ...keys)
    const remembered = rememberedDecisions(file)
    const rules = [...(config.policy ?? []), ...samplingRules(config)]
    const next: Interceptors = {
      trace: isTraced(config) ? trace(config.trace || {}) : undefined,
      secretGuard: secretGuard(ownedSecrets(after)),
      pins: pins(this.pins),
      policy: policy(rules, {
        approvals: this.approvals,
        isTrusted: this.#isTrusted,
        earlier: this.#earlier,
      }),
      limits: isNew('limits', 'mcpServers') ? limitsOf(config) : this.#current?.limits,
      breaker: (isNew('limits') ? undefined : this.#current?.breaker) ?? this.#breakerOf(after),
    }
    return () => {
      this.approvals.update({
        timeoutMs: config.approvals?.timeoutMs,
        remembered,
        // By the server's own name for the tool, whatever name it is registered under.
        isApproved: ({ name, server = '' }) =>
          ownValue(autoApprove, server)?.some(each => [each, `${server}__${each}`].includes(name)) === true,
      })
      this.pins.mode = config.pins ?? 'hold'
      this.#resolved = after
      this.#current = next
    }
  }

  /** The owner's token was changed: the new one is a secret, too. */
  guardNewToken(): void {
    const guard = secretGuard(ownedSecrets(this.#resolved))
    this.#current = { ...(this.#current as Interceptors), secretGuard: guard }
  }

  /** The breaker of a server that comes back is reset: earlier failures no longer count. */
  noteServer({ name, state }: ServerStatus): void {
    if (state !== 'ready') this.#away.add(name)
    else if (this.#away.delete(name)) this.resetBreaker(name)
  }

  resetBreaker(server: string): void {
    this.#current?.breaker?.reset(server)
  }

  withBreaker(status: ServerStatus): ServerStatus {
    const breaker = this.#current?.breaker
    return breaker ? { ...status, breaker: breaker.status(status.name) } : status
  }

  close(): void {
    this.approvals.close()
  }

  /** Only needed with servers; the built-in example has one. */
  #breakerOf({ config, file }: ResolvedConfig): Breaker | undefined {
    const hasServers = file === undefined || Object.keys(config.mcpServers ?? {}).length > 0
    const wanted = hasServers && (config.limits?.breaker ?? true)
    return wanted ? breaker({ ...(wanted !== true && wanted), onChange: this.#tell.breaker }) : undefined
  }
}

/** The patterns in rules, clients and limits that match no tool, in words: a misspelt rule guards nothing. */
export function unmatchedPatterns(config: ToolpostConfig, tools: ToolManager): string[] {
  const isThere = (pattern: string) =>
    tools.getTools().some(tool => fitsTool(pattern, tool, tools.originOf(tool)?.server)) ||
    samplingNames(config).some(name => fitsGlob(name, pattern))
  const places = [
    ...(config.policy ?? []).map(({ tools = [], after = [] }, index) => {
      const earlier = after === 'outside' ? [] : after
      return [`policy[${index}]`, [tools, earlier].flat()] as const
    }),
    ...Object.entries(config.clients ?? {}).map(
      ([name, { tools = [] }]) => [`clients.${name}`, tools] as const,
    ),
    ['limits.tools', Object.keys(config.limits?.tools ?? {})] as const,
  ]
  return places.flatMap(([place, patterns]) =>
    patterns
      .filter(pattern => !isThere(pattern))
      .map(pattern => `${place} names '${pattern}', but there is no such tool`),
  )
}

/** Whether calls and models are traced: if the configuration or the environment asks for it, unless `trace` is `false`. */
export function isTraced({ trace }: ToolpostConfig): boolean {
  return trace !== false && (trace !== undefined || exportAddress(process.env) !== undefined)
}

function limitsOf(config: ToolpostConfig): Interceptor | undefined {
  const { breaker: _, ...rules } = config.limits ?? {}
  const tools = { ...samplingLimits(config), ...rules.tools }
  return Object.keys({ ...rules, ...tools }).length > 0 ? limits({ ...rules, tools }) : undefined
}

/** A path or an address, as in `${HOME}/data`, is often an argument, and no secret in itself. */
const PLACE = /^(?:[./~]|[A-Za-z]:\\|[a-z][a-z+.-]*:\/\/)/
const SCHEME = /^(?:bearer|basic|token)\s+/i

/** The secrets of a configuration and where they are set, each with the server that may receive it. */
function ownedSecrets({ config, file, fromEnvironment }: ResolvedConfig): OwnedSecret[] {
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

/** A rule of the policy, but for a single tool by its exact name. */
interface DecisionRule extends Pick<RememberedDecision, 'then' | 'definition'> {
  tools: string
  servers?: [string]
  from?: [string]
  callers?: [string]
  because?: string
}

/** Throws a ConfigError if the file is malformed: an overlooked rule could be one that denies. */
function rememberedDecisions(configFile: string | undefined): RememberedDecision[] {
  return readRules(decisionsFile(configFile)).map(rule => {
    const { tools: tool, servers, from, callers, then, because = '', definition } = rule
    return { tool, server: servers?.[0], origin: from?.[0], caller: callers?.[0], then, because, definition }
  })
}

function rememberDecision(configFile: string | undefined, decision: RememberedDecision): void {
  const { tool: tools, server, origin, caller, ...rest } = decision
  const listed = (name: string | undefined) => (name === undefined ? undefined : [name])
  const scope = { servers: listed(server), from: listed(origin), callers: listed(caller) }
  const file = decisionsFile(configFile)
  // The file may have been edited, or changed by another process.
  const rules = [{ tools, ...scope, ...rest }, ...readRules(file)]
  writePrivate(file, `${JSON.stringify({ rules }, null, 2)}\n`)
}

function decisionsFile(configFile: string | undefined): string {
  return join(configFile === undefined ? process.cwd() : dirname(configFile), DECISIONS_FILE)
}

function readRules(file: string): DecisionRule[] {
  if (!existsSync(file)) return []
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(DECISIONS_FILE, '', `cannot be read: ${(cause as Error).message}`, { cause })
  }
  const source = new ConfigSource(DECISIONS_FILE, text)
  const wrong = problemIn(source.value, 'decisions')
  if (wrong) throw source.error(wrong)
  return (source.value as { rules: DecisionRule[] }).rules
}
