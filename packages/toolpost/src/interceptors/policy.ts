import type { ValidateFunction } from 'ajv'
import type { Interceptor } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { fitsGlob } from '../runtime/glob.ts'
import { compileSchema } from '../schema/compile.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { fitsCall } from '../tools/tool-pattern.ts'
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
  /** The tool's hints about itself; a missing hint counts as false. */
  if?: { readonly destructive?: boolean; readonly readOnly?: boolean; readonly idempotent?: boolean }
  /** JSON Schema that the arguments must match. */
  args?: JsonSchema
  then: 'allow' | 'ask' | 'deny'
  /** How long a call waits for a person, if `then` is `ask`; the approvals' default if left out. */
  timeoutMs?: number
  /** The reason, shown in the result. */
  because?: string
}

/** Always the last rule: a person is asked before a model does something that cannot be undone. */
export const DEFAULT_POLICY: readonly PolicyRule[] = [
  {
    from: ['chat', 'mcp', 'voice'],
    if: { destructive: true },
    then: 'ask',
    because: 'the tool is marked as destructive',
  },
]

/**
 * Decides which calls run: the first matching rule decides, and calls that match no rule are allowed. The default rule
 * comes last, whatever the rules are; `{ if: { destructive: true }, then: 'allow' }` turns it off.
 */
export function policy(
  rules: readonly PolicyRule[] = [],
  { approvals = new Approvals() }: { approvals?: Approvals } = {},
): Interceptor {
  const compiled = [
    ...rules.map((rule, index) => compile(rule, `rule ${index + 1}`)),
    ...DEFAULT_POLICY.map(rule => compile(rule, 'default rule')),
  ]
  const decide: Interceptor = async function policy(call, next) {
    if (call.failure) return next()
    const fitting = firstFit(compiled, call)
    const rule = fitting instanceof Promise ? await fitting : fitting
    if (call.dryRun) {
      const { then = 'allow', because, timeoutMs } = rule ?? {}
      call.dryRun.verdict = then
      if (then === 'ask' && !approvals.isDecided(call))
        call.dryRun.asks = { because, timeoutMs: approvals.limitMs(timeoutMs) }
      if (then !== 'deny') return next()
    }
    if (!rule) return next()
    const { then, because, timeoutMs } = rule
    call.notes.rule = nameOf(rule)
    if (then === 'deny') return denied(call, because ?? `by policy (${nameOf(rule)})`)
    if (then === 'allow') return next()
    const { approved, reason, id, by } = await approvals.request(call, because, timeoutMs)
    call.notes.approval = { id, by, decision: approved ? 'approved' : 'denied' }
    return approved ? next() : denied(call, reason)
  }
  return decide
}

/** The name of callers without a name. */
const NO_NAME = 'default'

type Compiled = PolicyRule & {
  readonly label: string
  /** Compiled when first needed. */
  validate(): Promise<ValidateFunction>
}

function compile(rule: PolicyRule, label: string): Compiled {
  let validate: Promise<ValidateFunction> | undefined
  return {
    ...rule,
    label,
    validate() {
      validate ??= compileSchema(rule.args ?? {}).then(({ validate, leftOut }) => {
        // A rule that does not check everything would allow more than it says.
        const [pattern] = leftOut
        if (pattern === undefined) return validate
        throw new Error(`'args' of ${label} has a pattern that cannot be checked in linear time: ${pattern}`)
      })
      return validate
    },
  }
}

/** A promise only if a rule looks at the arguments. */
function firstFit(rules: readonly Compiled[], call: CallContext): Fit | Promise<Fit> {
  const covering = rules.find(rule => covers(rule, call))
  return covering?.args === undefined ? covering : firstWithArguments(rules, call)
}

type Fit = Compiled | undefined

async function firstWithArguments(rules: readonly Compiled[], call: CallContext): Promise<Fit> {
  for (const rule of rules) {
    if (!covers(rule, call)) continue
    if (rule.args === undefined || (await rule.validate())(call.args)) return rule
  }
  return undefined
}

function covers(rule: PolicyRule, call: CallContext): boolean {
  return (
    fitsOrigin(call.origin, rule.from) &&
    fits(call.caller ?? NO_NAME, rule.callers) &&
    fits(call.server, rule.servers) &&
    fitsNames(rule, call) &&
    Object.entries(rule.if ?? {}).every(
      ([hint, wanted]) => (call.tool?.[hint as 'readOnly'] === true) === wanted,
    )
  )
}

function fitsNames({ tools, then }: PolicyRule, call: CallContext): boolean {
  if (tools === undefined) return true
  const patterns = typeof tools === 'string' ? [tools] : tools
  return patterns.some(pattern => fitsCall(pattern, call, { grants: then === 'allow' }))
}

/** The console uses HTTP, so a rule about HTTP also covers the console. */
function fitsOrigin(origin: string | undefined, from: readonly string[] | undefined): boolean {
  return fits(origin, from) || (origin === 'console' && fits('http', from))
}

function fits(value: string | undefined, globs: readonly string[] | undefined): boolean {
  return globs === undefined || (value !== undefined && globs.some(glob => fitsGlob(value, glob)))
}

function nameOf({ label, then, tools }: Compiled): string {
  const about = tools === undefined ? '' : ` ${typeof tools === 'string' ? tools : tools.join(', ')}`
  return `${label}: ${then}${about}`
}
