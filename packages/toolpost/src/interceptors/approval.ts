import type { CallContext } from '../executor/context.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { fingerprint, toolDefinition } from './canonical.ts'

/** A call that a person is asked about. */
export interface Approval {
  readonly id: string
  readonly tool: string
  readonly server?: string | undefined
  /** Complete, except for known secrets: a person must see what they allow. */
  readonly args: unknown
  readonly origin?: string | undefined
  readonly caller?: string | undefined
  /** Why a person is asked. */
  readonly because?: string | undefined
  /** In milliseconds since 1970. */
  readonly askedAt: number
  readonly expiresAt: number
  readonly state: 'waiting' | 'approved' | 'denied'
  /** The fingerprint of the tool's definition; left out for tools without a server. */
  readonly definition?: string | undefined
  /** What a remembered decision may cover. */
  readonly scopes?: readonly ('tool' | 'server')[] | undefined
}

export interface Decision {
  /** Who decided: `console`, `terminal`, the name of a client … */
  by?: string | undefined
  /** Decide the same for this tool and this caller from now on: until the process ends, or permanently. */
  remember?: 'session' | 'always' | undefined
  /** What a remembered decision covers; the tool if left out. */
  scope?: 'tool' | 'server' | undefined
  /** Why it was denied; shown in the result. */
  reason?: string | undefined
}

/** A permanent decision, stored by the owner of the approvals. */
export interface RememberedDecision {
  /** `*` for every tool of `server`. */
  tool: string
  /** The tool's server; left out for tools without one. */
  server?: string | undefined
  origin?: string | undefined
  caller?: string | undefined
  then: 'allow' | 'deny'
  because: string
  /** The fingerprint of the definition that it is about; left out if it is about any. */
  definition?: string | undefined
}

/** The outcome of asking. */
export interface Verdict {
  approved: boolean
  /** Why it was not approved. */
  reason: string
  id?: string | undefined
  by?: string | undefined
}

/** Calls whose approval outlives this process, and can be asked for and granted in others. */
export interface SharedApprovals {
  /** `undefined` if the call is not one of them. */
  request(call: CallContext, asked: Approval): Promise<Verdict> | undefined
  decide(id: string, decision: 'approve' | 'deny', about: Decision): Promise<unknown>
}

/** What an approval says about the tool of a call, besides its name. */
export function toolAsked(call: CallContext): Pick<Approval, 'server' | 'definition' | 'scopes'> {
  const { server } = call
  return {
    server,
    definition: definitionOf(call),
    scopes: server === undefined ? ['tool'] : ['tool', 'server'],
  }
}

export function isAbout(decision: RememberedDecision, call: CallContext): boolean {
  const { tool, definition } = decision
  const { name, server, origin, caller } = call
  const isOfTool = tool === name || (tool === '*' && server !== undefined)
  const isOfCaller = decision.server === server && decision.origin === origin && decision.caller === caller
  return isOfTool && isOfCaller && (definition === undefined || definition === definitionOf(call))
}

function definitionOf({ server, tool }: CallContext): string | undefined {
  return server === undefined || !tool ? undefined : fingerprint(toolDefinition(tool))
}

const fullNameOf = ({ tool, server }: Approval) => (server === undefined ? tool : `${tool} of ${server}`)

export function questionOf(approval: Approval): string {
  const why = approval.because === undefined ? '' : ` (${approval.because})`
  return escapeControls(`Run ${fullNameOf(approval)} with ${JSON.stringify(approval.args)}?${why}`)
}

/** Everything that a person decides about: whole, on lines that no argument can forge. */
export function approvalText(approval: Approval): string {
  const { id, args, caller, origin, because } = approval
  const who = [caller, origin].filter(part => part !== undefined).join(', ')
  const why = because === undefined ? '' : `: ${because}`
  const what = escapeControls(`${fullNameOf(approval)} ${JSON.stringify(args)}`)
  return `${id}  ${what}\n  asked by ${who || 'code'}${why}`
}

/** The same for all calls that one approval covers; `undefined` if it cannot be computed. */
export function keyOf({ name, server, origin, caller, args }: CallContext): string | undefined {
  try {
    return fingerprint([name, server, origin, caller, args])
  } catch {
    return undefined
  }
}
