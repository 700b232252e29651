import { join } from 'node:path'
import type { Interceptor } from '../executor/chain.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import {
  Approvals,
  type Breaker,
  breaker,
  limits,
  Pins,
  pins,
  policy,
  secretGuard,
  trace,
} from '../interceptors/index.ts'
import { changeText } from '../interceptors/pins.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { exportAddress } from '../telemetry/export.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { ownValue } from '../util/guards.ts'
import { fitsGlob } from '../util/text.ts'
import type { ToolpostConfig } from './config.ts'
import { differs } from './configuration.ts'
import { stateFolder } from './local-state.ts'
import { ownedSecrets } from './owned-secrets.ts'
import type { Part } from './project-options.ts'
import { rememberDecision, rememberedDecisions } from './remembered-decisions.ts'
import type { ResolvedConfig } from './resolve.ts'
import { samplingLimits, samplingNames, samplingRules } from './sampling.ts'

interface ControlEvents {
  /** The breaker of a server changed. */
  breaker(server: string): void
  warn(text: string): void
}

/** The interceptors around every call of a project, according to its configuration. */
export class Control implements Part {
  readonly approvals: Approvals
  readonly pins: Pins
  readonly #executor: ToolExecutor
  readonly #tell: ControlEvents
  #current: ResolvedConfig
  #limits: Interceptor | undefined
  #breaker: Breaker | undefined
  #removals: readonly (() => void)[] = []
  /** The interceptors inside all of those, with the functions that remove them. */
  readonly #inside = new Map<Interceptor, () => void>()
  #isChecked = false
  /** The last known state of each server that was ready before. */
  readonly #states = new Map<string, string>()

  /** Throws a ConfigError if the remembered decisions cannot be read. */
  constructor(executor: ToolExecutor, resolved: ResolvedConfig, tell: ControlEvents) {
    this.#executor = executor
    this.#tell = tell
    this.#current = resolved
    this.approvals = new Approvals({
      onRemember: decision => {
        try {
          rememberDecision(this.#current.file, decision)
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
  }

  /** What this program's own tools and those of other workers say is relied on. */
  readonly #isTrusted = (server: string): boolean =>
    (ownValue(this.#current.config.mcpServers ?? {}, server) ?? { trust: true }).trust === true

  /** The counts of limits and breakers are kept, unless their configuration changed. */
  prepare(after: ResolvedConfig, before?: ResolvedConfig): () => void {
    const { config, file, autoApprove } = after
    const isNew = (...keys: (keyof ToolpostConfig)[]) => !before || differs(before.config, config, keys)
    const remembered = rememberedDecisions(file)
    const newLimits = isNew('limits', 'mcpServers') ? limitsOf(config) : this.#limits
    const newBreaker = isNew('limits') || !this.#breaker ? this.#breakerOf(after) : this.#breaker
    const rules = [...(config.policy ?? []), ...samplingRules(config)]
    // Outermost first.
    const interceptors = [
      isTraced(config) ? trace(config.trace || {}) : undefined,
      secretGuard(ownedSecrets(after)),
      pins(this.pins),
      policy(rules, { approvals: this.approvals, isTrusted: this.#isTrusted }),
      newLimits,
      newBreaker,
    ].filter(interceptor => interceptor !== undefined)
    return () => {
      this.approvals.update({
        timeoutMs: config.approvals?.timeoutMs,
        remembered,
        // By the server's own name for the tool, whatever name it is registered under.
        isApproved: ({ name, server = '' }) =>
          ownValue(autoApprove, server)?.some(each => name === each || name === `${server}__${each}`) ===
          true,
      })
      this.#current = after
      this.pins.mode = config.pins ?? 'hold'
      this.#limits = newLimits
      this.#breaker = newBreaker
      if (isNew('policy', 'clients')) this.#isChecked = false
      const old = this.#removals
      this.#removals = interceptors.map(interceptor => this.#executor.use(interceptor))
      for (const remove of old) remove()
      for (const interceptor of [...this.#inside.keys()]) this.useInside(interceptor)
    }
  }

  /** Adds an interceptor inside all of these, also after every change; returns a function that removes it. */
  useInside(interceptor: Interceptor): () => void {
    const remove = this.#executor.use(interceptor)
    this.#inside.get(interceptor)?.()
    this.#inside.set(interceptor, remove)
    return () => {
      this.#inside.get(interceptor)?.()
      this.#inside.delete(interceptor)
    }
  }

  /** The breaker of a server that comes back is reset: earlier failures no longer count. */
  noteServer({ name, state }: ServerStatus): void {
    const before = this.#states.get(name)
    if (state === 'ready' && before !== undefined && before !== 'ready') this.resetBreaker(name)
    if (state === 'ready' || before !== undefined) this.#states.set(name, state)
  }

  resetBreaker(server: string): void {
    this.#breaker?.reset(server)
  }

  withBreaker(status: ServerStatus): ServerStatus {
    return this.#breaker ? { ...status, breaker: this.#breaker.status(status.name) } : status
  }

  /** Warns, once, of patterns that match no tool. Tools may appear later, but a misspelt rule guards nothing. */
  checkNames(): void {
    if (this.#isChecked) return
    this.#isChecked = true
    for (const text of this.unmatched()) this.#tell.warn(`⚠️ ${text} (yet)`)
  }

  /** The patterns in rules and clients that match no tool, in words. */
  unmatched(): string[] {
    const { policy: rules = [], clients = {} } = this.#current.config
    const { tools } = this.#executor
    const isThere = (pattern: string) =>
      tools.getTools().some(tool => fitsTool(pattern, tool, tools.originOf(tool)?.server)) ||
      samplingNames(this.#current.config).some(name => fitsGlob(name, pattern))
    const places = [
      ...rules.map((rule, index) => ({ place: `policy[${index}]`, patterns: [rule.tools ?? []].flat() })),
      ...Object.entries(clients).map(([name, client]) => ({
        place: `clients.${name}`,
        patterns: client.tools ?? [],
      })),
    ]
    return places.flatMap(({ place, patterns }) =>
      patterns
        .filter(pattern => !isThere(pattern))
        .map(pattern => `${place} names '${pattern}', but there is no such tool`),
    )
  }

  close(): void {
    this.#isChecked = true
    this.approvals.close()
  }

  /** Only needed with servers; the built-in example has one. */
  #breakerOf({ config, file }: ResolvedConfig): Breaker | undefined {
    const wanted = config.limits?.breaker ?? true
    const hasServers = file === undefined || Object.keys(config.mcpServers ?? {}).length > 0
    if (!hasServers || wanted === false) return undefined
    return breaker({ ...(wanted !== true && wanted), onChange: this.#tell.breaker })
  }
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
