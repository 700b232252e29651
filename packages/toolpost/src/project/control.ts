import type { ToolpostConfig } from '../config/config.ts'
import type { Interceptor } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import {
  Approvals,
  type Breaker,
  breaker,
  limits,
  policy,
  type RememberedDecision,
  trace,
} from '../interceptors/index.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { fitsGlob } from '../runtime/glob.ts'
import { ownValue } from '../runtime/guards.ts'
import { exportAddress } from '../telemetry/export.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { differs } from './changes.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'
import { RememberedDecisions } from './remembered-decisions.ts'
import { samplingLimits, samplingNames, samplingRules } from './sampling.ts'

interface ControlEvents {
  /** A server or its breaker changed. */
  server(status: ServerStatus): void
  /** Something a person should know. */
  warn(text: string): void
}

/** The interceptors around every call of a project, according to its configuration. */
export class Control implements Part {
  /** Calls waiting for a person's approval. */
  readonly approvals: Approvals
  readonly #executor: ToolExecutor
  readonly #tell: ControlEvents
  #config: ToolpostConfig | undefined
  #limits: Interceptor | undefined
  #file: string | undefined
  #removals: readonly (() => void)[] = []
  /** The interceptors inside all of those, with the functions that remove them. */
  readonly #inside = new Map<Interceptor, () => void>()
  /** Whether the patterns for tools were compared with the tools there are. */
  #isChecked = false
  /** The names under which servers request messages. */
  #sampling: readonly string[] = []
  #breaker: Breaker | undefined
  /** The last known status. */
  readonly #servers = new Map<string, ServerStatus>()
  /** Servers that were ready, and no longer are. */
  readonly #gone = new Set<string>()

  /** Throws a ConfigError if the remembered decisions cannot be read. */
  constructor(executor: ToolExecutor, description: Description, tell: ControlEvents) {
    this.#executor = executor
    this.#tell = tell
    this.#file = description.file
    this.approvals = new Approvals({ onRemember: decision => this.#keep(decision) })
    this.apply(description)
  }

  check({ file }: Description): void {
    void new RememberedDecisions(file).decisions
  }

  /**
   * Replaces the interceptors around every call, outermost first. The counts of limits and breakers are kept, unless their
   * configuration changed. Throws like the constructor, changing nothing.
   */
  apply(description: Description): void {
    const { config, file, autoApprove = {} } = description
    this.approvals.update({
      timeoutMs: config.approvals?.timeoutMs,
      remembered: new RememberedDecisions(file).decisions,
      isApproved: call => isAutoApproved(call, autoApprove),
    })
    this.#file = file
    for (const remove of this.#removals) remove()
    const isNew = (key: keyof ToolpostConfig) => !this.#config || differs(this.#config, config, [key])
    if (isNew('policy') || isNew('clients')) this.#isChecked = false
    if (isNew('limits') || isNew('mcpServers')) this.#limits = limitsOf(config)
    if (isNew('limits') || !this.#breaker) this.#breaker = this.#breakerOf(description)
    this.#config = config
    this.#sampling = samplingNames(config)
    const interceptors: (Interceptor | undefined)[] = [
      isTraced(config) ? trace(config.trace || {}) : undefined,
      policy([...(config.policy ?? []), ...samplingRules(config)], { approvals: this.approvals }),
      this.#limits,
      this.#breaker,
    ]
    this.#removals = interceptors
      .filter(interceptor => interceptor !== undefined)
      .map(interceptor => this.#executor.use(interceptor))
    for (const interceptor of this.#inside.keys()) this.#placeInside(interceptor)
  }

  /** Adds an interceptor inside all of these, also after every change; returns a function that removes it. */
  useInside(interceptor: Interceptor): () => void {
    this.#placeInside(interceptor)
    return () => {
      this.#inside.get(interceptor)?.()
      this.#inside.delete(interceptor)
    }
  }

  #placeInside(interceptor: Interceptor): void {
    const remove = this.#executor.use(interceptor)
    this.#inside.get(interceptor)?.()
    this.#inside.set(interceptor, remove)
  }

  /** Reports a server's status. The breaker of one that comes back is reset: earlier failures no longer count. */
  noteServer(status: ServerStatus): void {
    const { name, state } = status
    if (this.#servers.get(name)?.state === 'ready' && state !== 'ready') this.#gone.add(name)
    if (state === 'ready' && this.#gone.delete(name)) this.resetBreaker(name)
    this.#servers.set(name, status)
    this.#tellOf(name)
    if (state === 'closed') this.#servers.delete(name)
  }

  resetBreaker(server: string): void {
    this.#breaker?.reset(server)
  }

  withBreakers(servers: ServerStatus[]): ServerStatus[] {
    const breaker = this.#breaker
    return breaker ? servers.map(status => ({ ...status, breaker: breaker.status(status.name) })) : servers
  }

  /** Warns, once, of patterns that match no tool. Tools may appear later, but a misspelt rule guards nothing. */
  checkNames(): void {
    if (this.#isChecked) return
    this.#isChecked = true
    for (const text of this.unmatched()) this.#tell.warn(`⚠️ ${text} (yet)`)
  }

  /** The patterns in rules and clients that match no tool, in words. */
  unmatched(): string[] {
    const manager = this.#executor.tools
    const isThere = (pattern: string) =>
      manager.getTools().some(tool => fitsTool(pattern, tool, manager.originOf(tool)?.server)) ||
      this.#sampling.some(name => fitsGlob(name, pattern))
    return toolPatterns(this.#config ?? {})
      .filter(({ pattern }) => !isThere(pattern))
      .map(({ place, pattern }) => `${place} names '${pattern}', but there is no such tool`)
  }

  /** If it cannot be saved, the decision still holds, but is not remembered. */
  #keep(decision: RememberedDecision): void {
    try {
      new RememberedDecisions(this.#file).add(decision)
    } catch (error) {
      this.#tell.warn(
        `⚠️ The decision on '${decision.tool}' could not be saved and lasts only until Toolpost stops: ${(error as Error).message}`,
      )
      throw error
    }
  }

  close(): void {
    this.#isChecked = true
    this.approvals.close()
  }

  /** Only needed with servers; the built-in example has one. */
  #breakerOf({ config, file }: Description): Breaker | undefined {
    const wanted = config.limits?.breaker ?? true
    const hasServers = file === undefined || Object.keys(config.mcpServers ?? {}).length > 0
    if (!hasServers || wanted === false) return undefined
    return breaker({ ...(wanted !== true && wanted), onChange: name => this.#tellOf(name) })
  }

  #tellOf(name: string): void {
    const status = this.#servers.get(name)
    if (status) for (const shown of this.withBreakers([status])) this.#tell.server(shown)
  }
}

/** The patterns for tools in rules and clients. */
function toolPatterns({ policy = [], clients = {} }: ToolpostConfig): { place: string; pattern: string }[] {
  return [
    ...policy.flatMap(({ tools = [] }, index) =>
      [tools].flat().map(pattern => ({ place: `policy[${index}]`, pattern })),
    ),
    ...Object.entries(clients).flatMap(([name, { tools = [] }]) =>
      tools.map(pattern => ({ place: `clients.${name}`, pattern })),
    ),
  ]
}

/** Whether calls and models are traced: if the configuration or the environment asks for it, unless `trace` is `false`. */
export function isTraced({ trace }: ToolpostConfig): boolean {
  return trace !== false && (trace !== undefined || exportAddress(process.env) !== undefined)
}

function limitsOf(config: ToolpostConfig): Interceptor | undefined {
  const { limits: configured = {} } = config
  const { breaker: _, ...rules } = configured
  const tools = { ...samplingLimits(config), ...rules.tools }
  return Object.keys({ ...rules, ...tools }).length > 0 ? limits({ ...rules, tools }) : undefined
}

/** Matches the server's own name for the tool, whatever name it is registered under. */
function isAutoApproved(
  { name, server = '' }: CallContext,
  autoApprove: Readonly<Record<string, readonly string[]>>,
): boolean {
  return ownValue(autoApprove, server)?.some(each => name === each || name === `${server}__${each}`) === true
}
