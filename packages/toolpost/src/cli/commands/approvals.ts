import type { Approval } from '../../interceptors/index.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { GatewayClient } from '../gateway-client.ts'
import { printResult, say, type Terminal } from '../terminal.ts'

export interface ApprovalFlags {
  url?: string
  token?: string
  json?: boolean
  remember?: string
}

export interface ApprovalWords {
  decision?: string | undefined
  id?: string | undefined
  flags: ApprovalFlags
}

/** `toolpost approvals [approve|deny <id>]`: lists what is waiting at the running gateway, or decides one. */
export async function decideApprovals(
  { project, terminal }: CommandContext,
  { decision, id, flags }: ApprovalWords,
): Promise<number> {
  const gateway = new GatewayClient(project, flags)
  if (decision === undefined) return list(await gateway.get('/api/approvals'), flags, terminal)
  if (decision !== 'approve' && decision !== 'deny')
    throw new UsageError(`invalid decision '${decision}'; expected one of approve, deny`)
  if (id === undefined) throw new UsageError('Which approval? `toolpost approvals` lists them')
  const { remember } = flags
  await gateway.post(`/api/approvals/${encodeURIComponent(id)}`, { decision, remember })
  say(terminal, decision === 'approve' ? 'Approved.' : 'Denied.')
  return EXIT.ok
}

function list(answer: unknown, flags: ApprovalFlags, terminal: Terminal): number {
  const { approvals } = answer as { approvals: Approval[] }
  if (flags.json) printResult(terminal, JSON.stringify(approvals))
  else if (approvals.length === 0) say(terminal, 'Nothing is waiting for approval.')
  else for (const approval of approvals) printResult(terminal, shown(approval))
  return EXIT.ok
}

function shown({ id, tool, args, caller, origin, because }: Approval): string {
  const who = [caller, origin].filter(part => part !== undefined).join(', ')
  const lines = [
    `${id}  ${tool} ${safeText(JSON.stringify(args))}`,
    `  asked by ${who || 'code'}${because === undefined ? '' : `: ${because}`}`,
  ]
  return lines.join('\n')
}
