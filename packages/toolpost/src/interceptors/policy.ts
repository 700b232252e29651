import type { ValidateFunction } from 'ajv'
import type { InterceptedCall, Interceptor } from '../executor/intercept.ts'
import { fitsGlob } from '../runtime/glob.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
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

/** The default: a person is asked before a model does something that cannot be undone. */
export const DEFAULT_POLICY: readonly PolicyRule[] = [
  {
    from: ['chat', 'mcp', 'voice'],
    if: { destructive: true },
    then: 'ask',
    because: 'the tool is marked as destructive',
  },
]

/** Decides which calls run: the first matching rule decides, and calls that match no rule are allowed. */
export function policy(
  rules: readonly PolicyRule[] = DEFAULT_POLICY,
  { approvals = new Approvals() }: { approvals?: Approvals } = {},
): Interceptor {
  const compiled = rules.map(compile)
  const decide: Interceptor = async function policy(call, next) {
    if (call.failure) return next()
    const rule = await firstFit(compiled, call)
    if (!rule) return next()
    const { then, because, timeoutMs } = rule
    call.notes.rule = nameOf(rule)
    if (then === 'deny') return denied(call, because ?? `by policy (${nameOf(rule)})`)
    if (then === 'allow') return next()
    const { approved, reason, id, by } = await approvals.request(call, because, timeoutMs)
    call.notes.approval = { id, by, decision: approved ? 'approved' : 'denied' }
    return approved ? next() : denied(call, reason)
  }
  decide.foresee = async call => {
    const { then = 'allow', because, timeoutMs } = (await firstFit(compiled, call)) ?? {}
    return then === 'ask' ? { asks: { because, timeoutMs: approvals.limitMs(timeoutMs) } } : then
  }
  return decide
}

/** The name of callers without a name. */
const NO_NAME = 'default'

type Compiled = PolicyRule & {
  readonly index: number
  /** Compiled when first needed. */
  validate(): Promise<ValidateFunction>
}

function compile(rule: PolicyRule, index: number): Compiled {
  let validate: Promise<ValidateFunction> | undefined
  return {
    ...rule,
    index,
    validate() {
      validate ??= compileSchema(rule.args ?? {}).then(({ validate, leftOut }) => {
        // A rule that does not check everything would allow more than it says.
        if (leftOut.length === 0) return validate
        throw new Error(
          `'args' of rule ${index + 1} has a pattern that cannot be checked in linear time: ${leftOut[0]}`,
        )
      })
      return validate
    },
  }
}

async function firstFit(rules: readonly Compiled[], call: InterceptedCall): Promise<Compiled | undefined> {
  for (const rule of rules) {
    if (!covers(rule, call)) continue
    if (rule.args === undefined || (await rule.validate())(call.args)) return rule
  }
  return undefined
}

function covers(rule: PolicyRule, call: InterceptedCall): boolean {
  const { tools, servers, from, callers } = rule
  const { server, origin, caller, tool } = call
  return (
    fitsNames(tools, call) &&
    fits(server, servers) &&
    fitsOrigin(origin, from) &&
    fits(caller ?? NO_NAME, callers) &&
    (rule.if === undefined ||
      Object.entries(rule.if).every(([hint, wanted]) => (tool?.[hint as 'readOnly'] === true) === wanted))
  )
}

function fitsNames(tools: PolicyRule['tools'], { tool, server }: InterceptedCall): boolean {
  if (tools === undefined) return true
  const patterns = typeof tools === 'string' ? [tools] : tools
  return tool !== undefined && patterns.some(pattern => fitsTool(pattern, tool, server))
}

/** The console uses HTTP, so a rule about HTTP also covers the console. */
function fitsOrigin(origin: string | undefined, from: readonly string[] | undefined): boolean {
  return fits(origin, from) || (origin === 'console' && fits('http', from))
}

function fits(value: string | undefined, globs: readonly string[] | undefined): boolean {
  return globs === undefined || (value !== undefined && globs.some(glob => fitsGlob(value, glob)))
}

function nameOf({ index, then, tools }: Compiled): string {
  const about = tools === undefined ? '' : ` ${typeof tools === 'string' ? tools : tools.join(', ')}`
  return `rule ${index + 1}: ${then}${about}`
}
