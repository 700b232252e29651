import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { compileSchema } from '../schema/compile.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { fitsCall } from '../tools/tool-pattern.ts'
import { packageJson } from '../util/package-root.ts'
import { fitsGlob } from '../util/text.ts'
import { toolAsked } from './approval.ts'
import { Approvals } from './approvals.ts'
import { denied } from './refuse.ts'

/** Applies to calls that match all of its conditions; a condition left out matches every call. */
export interface PolicyRule {
  /** Names of tools; `*` matches any characters, `?` one. */
  tools?: string | readonly string[]
  /** The tools' MCP servers. */
  servers?: readonly string[]
  /** Where the call comes from: `cli`, `http`, `mcp`, `chat`, `voice`, `worker`. */
  from?: readonly string[]
  /** Who calls. */
  callers?: readonly string[]
  /** What is known about the tool. */
  if?: ToolConditions
  /**
   * Names of tools, one of which succeeded earlier in the same conversation, or for the same caller within an hour.
   * `outside`: a tool that reaches beyond this machine (`openWorld`), or one of a server that is not trusted.
   */
  after?: readonly string[] | 'outside'
  /** JSON Schema that the arguments must match. */
  args?: JsonSchema
  then: 'allow' | 'ask' | 'deny'
  /** How long a call waits for a person, if `then` is `ask`; the approvals' default if left out. */
  timeoutMs?: number
  /** The reason, shown in the result. */
  because?: string
}

/** The tool's hints about itself, of which a missing one counts as false, and whether they can be relied on. */
interface ToolConditions {
  readonly destructive?: boolean
  readonly readOnly?: boolean
  readonly idempotent?: boolean
  /** A missing hint counts as true, as in MCP. */
  readonly openWorld?: boolean
  /** Whether it says that it is read-only, or whether it is destructive. */
  readonly hinted?: boolean
  /** Whether it is a tool of this program or of a trusted server. */
  readonly trusted?: boolean
}

/** The name of callers without a name. */
const NO_NAME = 'default'

/**
 * Always the last rules: a person is asked before a model does something that cannot be undone, or may not be harmless. The
 * owner, over HTTP without a name, is not asked. In our own chat and voice we ask more: other MCP clients ask people
 * themselves.
 */
export const DEFAULT_POLICY: readonly PolicyRule[] = packageJson('data/default-policy.json')

export interface PolicyOptions {
  approvals?: Approvals
  /** Whether a server's hints about its tools may be relied on; all are trusted if left out. */
  isTrusted?: (server: string) => boolean
  /** What ran before, for `after`; to be kept when the rules are replaced. */
  earlier?: EarlierCalls
}

/**
 * Decides which calls run: the first matching rule decides, and calls that match no rule are allowed. The default rules
 * come last, whatever the rules are; `{ if: { destructive: true }, then: 'allow' }` turns the first of them off.
 */
export function policy(
  rules: readonly PolicyRule[] = [],
  { approvals = new Approvals(), isTrusted = () => true, earlier = new EarlierCalls() }: PolicyOptions = {},
): Interceptor {
  const known: Known = { earlier, isTrusted: ({ server }) => server === undefined || isTrusted(server) }
  const labelled: Labelled[] = [
    ...rules.map((rule, index) => ({ ...rule, label: `rule ${index + 1}` })),
    ...DEFAULT_POLICY.map(rule => ({ ...rule, label: 'default rule' })),
  ]
  // Only calls that a rule could look for later are remembered.
  const after = labelled.filter(rule => rule.after !== undefined)
  const isRemembered = ({ conversation, origin }: CallContext) =>
    conversation !== undefined || after.some(({ from }) => fitsOrigin(origin, from))
  const decide = async (call: CallContext, next: Next, fitting: Fit | Promise<Fit>): Promise<ToolResult> => {
    const rule = await fitting
    const first = rule?.after && earlier.find(call, rule.after)
    const because = first ? `${rule.because ?? 'by policy'}: ${first} ran before` : rule?.because
    if (call.dryRun) {
      const { then = 'allow', timeoutMs } = rule ?? {}
      call.dryRun.verdict = then
      if (then === 'ask' && !approvals.isDecided(call))
        call.dryRun.asks = { because, timeoutMs: approvals.limitMs(timeoutMs), ...toolAsked(call) }
      if (then !== 'deny') return next()
    }
    if (rule) {
      call.notes.rule = nameOf(rule)
      if (rule.then === 'deny') return denied(call, because ?? `by policy (${nameOf(rule)})`)
      if (rule.then === 'ask') {
        const { approved, reason, id, by } = await approvals.request(call, because, rule.timeoutMs)
        call.notes.approval = { id, by, decision: approved ? 'approved' : 'denied' }
        if (!approved) return denied(call, reason)
      }
    }
    const result = await next()
    if (result.success && isRemembered(call)) earlier.add(call, !known.isTrusted(call))
    return result
  }
  return function policy(call, next) {
    const fitting = call.failure ? undefined : firstFit(labelled, call, known)
    const isPassed = call.failure || (!fitting && !call.dryRun && !isRemembered(call))
    return isPassed ? next() : decide(call, next, fitting)
  }
}

type Labelled = PolicyRule & { readonly label: string }

async function fitsArguments({ args = {}, label }: Labelled, call: CallContext): Promise<boolean> {
  const { validate, leftOut } = await compileSchema(args)
  // A rule that does not check everything would allow more than it says.
  const [pattern] = leftOut
  if (pattern === undefined) return validate(call.args)
  throw new Error(`'args' of ${label} has a pattern that cannot be checked in linear time: ${pattern}`)
}

/** What rules look at besides the call. */
interface Known {
  earlier: EarlierCalls
  isTrusted(call: CallContext): boolean
}

type Fit = Labelled | undefined

/** A promise only if a rule looks at the arguments. */
function firstFit(rules: readonly Labelled[], call: CallContext, known: Known): Fit | Promise<Fit> {
  const rule = rules.find(each => covers(each, call, known))
  if (rule?.args === undefined) return rule
  const others = rules.slice(rules.indexOf(rule) + 1)
  return fitsArguments(rule, call).then(fits => (fits ? rule : firstFit(others, call, known)))
}

function covers(rule: PolicyRule, call: CallContext, known: Known): boolean {
  return (
    fitsOrigin(call.origin, rule.from) &&
    fits(call.caller ?? NO_NAME, rule.callers) &&
    fits(call.server, rule.servers) &&
    fitsNames(rule, call) &&
    Object.entries(rule.if ?? {}).every(
      ([hint, wanted]) => holds(hint as keyof ToolConditions, call, known) === wanted,
    ) &&
    (rule.after === undefined || known.earlier.find(call, rule.after) !== undefined)
  )
}

function holds(condition: keyof ToolConditions, call: CallContext, known: Known): boolean {
  const { tool } = call
  if (condition === 'trusted') return known.isTrusted(call)
  if (condition === 'hinted') return tool?.readOnly === true || tool?.destructive !== undefined
  if (condition === 'openWorld') return tool?.openWorld !== false
  return tool?.[condition] === true
}

function fitsNames({ tools, then }: PolicyRule, call: CallContext): boolean {
  if (tools === undefined) return true
  return [tools].flat().some(pattern => fitsCall(pattern, call, { grants: then === 'allow' }))
}

/** The console uses HTTP, so a rule about HTTP also covers the console. */
function fitsOrigin(origin: string | undefined, from: readonly string[] | undefined): boolean {
  return fits(origin, from) || (origin === 'console' && fits('http', from))
}

function fits(value: string | undefined, globs: readonly string[] | undefined): boolean {
  return globs === undefined || (value !== undefined && globs.some(glob => fitsGlob(value, glob)))
}

function nameOf({ label, then, tools }: Labelled): string {
  const about = tools === undefined ? '' : ` ${[tools].flat().join(', ')}`
  return `${label}: ${then}${about}`
}

const HOUR_MS = 3_600_000
const MAX_CONVERSATIONS = 1_000
const MAX_TOOLS = 200

interface EarlierCall extends Pick<CallContext, 'tool' | 'server' | 'originalName'> {
  isOutside: boolean
  at: number
}

/** The tools that succeeded in each conversation; the least recently used conversations are forgotten. */
export class EarlierCalls {
  readonly #byConversation = new Map<string, Map<string, EarlierCall>>()

  add(call: CallContext, isForeign: boolean): void {
    const { tool, server, originalName } = call
    const key = conversationOf(call)
    const tools = this.#byConversation.get(key) ?? new Map<string, EarlierCall>()
    this.#byConversation.delete(key)
    this.#byConversation.set(key, tools)
    const isOutside = isForeign || tool?.openWorld === true
    tools.set(call.name, { tool, server, originalName, isOutside, at: call.services.clock.now() })
    for (const full of [this.#byConversation, tools]) {
      const [oldest = ''] = full.keys()
      if (full.size > (full === tools ? MAX_TOOLS : MAX_CONVERSATIONS)) full.delete(oldest)
    }
  }

  /** The first of them that fits, in words. */
  find(call: CallContext, after: readonly string[] | 'outside'): string | undefined {
    const tools = this.#byConversation.get(conversationOf(call)) ?? new Map<string, EarlierCall>()
    const since = call.conversation === undefined ? call.services.clock.now() - HOUR_MS : 0
    for (const [name, earlier] of tools) {
      const { server, isOutside, at } = earlier
      const fits = after === 'outside' ? isOutside : after.some(pattern => fitsCall(pattern, earlier))
      if (fits && at >= since) return server === undefined ? name : `${name} of ${server}`
    }
    return undefined
  }
}

function conversationOf({ conversation, origin, caller }: CallContext): string {
  return JSON.stringify(conversation === undefined ? [origin, caller] : [conversation])
}
