import type { InterceptedCall } from '../../executor/intercept.ts'
import type { Clock } from '../../runtime/clock.ts'
import { fitsGlob } from '../../runtime/glob.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { Limit, type LimitOptions } from './limit.ts'

export type LimitRules = Readonly<Record<string, LimitOptions>>

const NONE: readonly Limit[] = []
/** The caller of calls without one. */
const NOBODY = 'default'
/** Further names share one limit per rule: made-up callers must not take memory. */
const MAX_NAMES = 1_000

/** Which limits a call needs. Looked up once per tool, server and caller, so a call costs the same with any number of rules. */
export class LimitTable {
  readonly #tools: readonly { pattern: string; limit: Limit }[]
  readonly #byTool = new WeakMap<Tool, readonly Limit[]>()
  readonly #servers: NamedLimits
  readonly #callers: NamedLimits

  constructor(rules: Record<'tools' | 'servers' | 'callers', LimitRules>, clock: Clock) {
    this.#tools = Object.entries(rules.tools).map(([pattern, options]) => ({
      pattern,
      limit: new Limit(`tools.${pattern}`, options),
    }))
    this.#servers = new NamedLimits('servers', rules.servers, clock)
    this.#callers = new NamedLimits('callers', rules.callers, clock)
  }

  of({ tool, server, caller }: InterceptedCall): readonly Limit[] {
    const named = joined(this.#servers.of(server), this.#callers.of(caller ?? NOBODY))
    return joined(this.#ofTool(tool, server), named)
  }

  /** All tools that match a pattern share its limit. */
  #ofTool(tool: Tool | undefined, server: string | undefined): readonly Limit[] {
    if (!tool || this.#tools.length === 0) return NONE
    const known = this.#byTool.get(tool)
    if (known) return known
    const limits = this.#tools
      .filter(({ pattern }) => fitsTool(pattern, tool, server))
      .map(({ limit }) => limit)
    this.#byTool.set(tool, limits)
    return limits
  }
}

function joined(some: readonly Limit[], others: readonly Limit[]): readonly Limit[] {
  if (some.length === 0) return others
  return others.length === 0 ? some : [...some, ...others]
}

/** The limits of servers, or of callers: each name that matches a pattern has its own. */
class NamedLimits {
  readonly #rules: readonly { pattern: string; options: LimitOptions; shared: Limit }[]
  readonly #kind: string
  readonly #clock: Clock
  readonly #byName = new Map<string, readonly Limit[]>()

  constructor(kind: string, rules: LimitRules, clock: Clock) {
    this.#kind = kind
    this.#clock = clock
    this.#rules = Object.entries(rules).map(([pattern, options]) => ({
      pattern,
      options,
      shared: new Limit(`${kind}.${pattern}`, options),
    }))
  }

  of(name: string | undefined): readonly Limit[] {
    if (name === undefined || this.#rules.length === 0) return NONE
    return this.#byName.get(name) ?? this.#begin(name)
  }

  #begin(name: string): readonly Limit[] {
    const rules = this.#rules.filter(({ pattern }) => fitsGlob(name, pattern))
    if (!this.#makeRoom()) return rules.map(({ shared }) => shared)
    const limits = rules.map(({ options }) => new Limit(`${this.#kind}.${name}`, options))
    this.#byName.set(name, limits)
    return limits
  }

  /** Makes room for one more by evicting the oldest, unless it is in use; then the next one is tried next time. */
  #makeRoom(): boolean {
    if (this.#byName.size < MAX_NAMES) return true
    const [oldest] = this.#byName
    const [name, limits] = oldest as [string, readonly Limit[]]
    const now = this.#clock.now()
    const isIdle = limits.every(limit => limit.isIdle(now))
    this.#byName.delete(name)
    if (!isIdle) this.#byName.set(name, limits)
    return isIdle
  }
}
