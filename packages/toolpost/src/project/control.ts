import type { ToolpostConfig } from '../config/config.ts'
import type { InterceptedCall, Interceptor } from '../executor/intercept.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import {
  Approvals,
  type Breaker,
  breaker,
  DEFAULT_POLICY,
  limits,
  type PolicyRule,
  policy,
  type RememberedDecision,
  trace,
} from '../interceptors/index.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { fitsGlob } from '../runtime/glob.ts'
import { exportAddress } from '../telemetry/export.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { differs } from './changes.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'
import { RememberedDecisions } from './remembered-decisions.ts'
import { samplingLimits, samplingNames, samplingRules } from './sampling.ts'

interface ControlEvents {
  /** A server changed, or its breaker. */
  server(status: ServerStatus): void
  /** Something that a person should know. */
  warn(text: string): void
}

/** What goes around every call of a project, as its configuration says. */
export class Control implements Part {
  /** Calls that a person is asked about. */
  readonly approvals: Approvals
  readonly #executor: ToolExecutor
  readonly #tell: ControlEvents
  #config: ToolpostConfig | undefined
  #limits: Interceptor | undefined
  #file: string | undefined
  #removals: readonly (() => void)[] = []
  /** What stands inside of all of those, with how it is removed. */
  readonly #inside = new Map<Interceptor, () => void>()
  #unchecked: readonly PolicyRule[] = []
  /** What servers' requests for messages are called. */
  #sampling: readonly string[] = []
  #breaker: Breaker | undefined
  /** As they were last told of. */
  readonly #servers = new Map<string, ServerStatus>()
  /** They were ready, and are not. */
  readonly #gone = new Set<string>()

  /** Throws a ConfigError if the decisions that were made for good cannot be read. */
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
   * Puts the interceptors around every call from now on, outermost first, in place of those before. What limits and breakers
   * have counted stays, unless it is they that changed. Throws, and changes nothing, as the constructor does.
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
    if (isNew('policy')) this.#unchecked = config.policy ?? []
    if (isNew('limits') || isNew('mcpServers')) this.#limits = limitsOf(config)
    if (isNew('limits') || !this.#breaker) this.#breaker = this.#breakerOf(description)
    this.#config = config
    this.#sampling = samplingNames(config)
    const interceptors: (Interceptor | undefined)[] = [
      isTraced(config) ? trace(config.trace || {}) : undefined,
      policy([...(config.policy ?? DEFAULT_POLICY), ...samplingRules(config)], { approvals: this.approvals }),
      this.#limits,
      this.#breaker,
    ]
    this.#removals = interceptors
      .filter(interceptor => interceptor !== undefined)
      .map(interceptor => this.#executor.use(interceptor))
    for (const interceptor of this.#inside.keys()) this.#placeInside(interceptor)
  }

  /** Puts an interceptor inside of all of these, now and after every change; returns a function that removes it. */
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

  /** Tells of a server. One that comes back is called again at once: what it did before says nothing any more. */
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

  /** Warns, once, of what the policy names that no tool is called. Tools may come later, but a misspelt rule guards nothing. */
  checkNames(): void {
    const manager = this.#executor.tools
    const isThere = (pattern: string) =>
      manager.getTools().some(tool => fitsTool(pattern, tool, manager.originOf(tool)?.server)) ||
      this.#sampling.some(name => fitsGlob(name, pattern))
    for (const [index, { tools = [] }] of this.#unchecked.entries())
      for (const pattern of [tools].flat())
        if (!isThere(pattern))
          this.#tell.warn(`⚠️ policy[${index}] names '${pattern}', but there is no such tool (yet)`)
    this.#unchecked = []
  }

  /** A disk that cannot be written to costs the memory of a decision, and not the decision. */
  #keep(decision: RememberedDecision): void {
    try {
      new RememberedDecisions(this.#file).add(decision)
    } catch (error) {
      this.#tell.warn(
        `⚠️ The decision on '${decision.tool}' could not be saved and holds until Toolpost stops: ${(error as Error).message}`,
      )
      throw error
    }
  }

  close(): void {
    this.#unchecked = []
    this.approvals.close()
  }

  /** Without servers there is nothing to break; the built-in example has one. */
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

/** Whether calls and models are traced: if the configuration or the environment wants it, and the former does not forbid it. */
export function isTraced({ trace }: ToolpostConfig): boolean {
  return trace !== false && (trace !== undefined || exportAddress(process.env) !== undefined)
}

function limitsOf(config: ToolpostConfig): Interceptor | undefined {
  const { limits: configured = {} } = config
  const { breaker: _, ...rules } = configured
  const tools = { ...samplingLimits(config), ...rules.tools }
  return Object.keys({ ...rules, ...tools }).length > 0 ? limits({ ...rules, tools }) : undefined
}

/** By the server's own name for the tool, whichever it is registered under. */
function isAutoApproved(
  { name, server = '' }: InterceptedCall,
  autoApprove: Readonly<Record<string, readonly string[]>>,
): boolean {
  const names = Object.hasOwn(autoApprove, server) ? autoApprove[server] : undefined
  return names?.some(each => name === each || name === `${server}__${each}`) === true
}
