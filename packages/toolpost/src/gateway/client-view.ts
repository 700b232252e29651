import { safeValue } from '../logging/safe-value.ts'
import type { Approval, BreakerStatus, GatewayEvents, ServerStatus } from './api-types.ts'
import type { Client } from './clients.ts'

/*
 * What a client may see. The owner sees everything; a named client sees its own calls and, of the servers, only what
 * concerns the tools it may use.
 */

/** Whether it may see a call or run, or a question from one. */
export function sees({ isNamed, name }: Client, { caller }: { caller?: string | undefined }): boolean {
  return !isNamed || caller === name
}

/** The errors and output of servers are for the owner only. */
export function serversFor(client: Client, servers: readonly ServerStatus[]): readonly ServerStatus[] {
  if (!client.isNamed) return servers
  const usable = new Set(client.tools().map(({ name }) => name))
  return servers.map(({ breaker, target: _, hint: __, ...server }) => ({
    ...server,
    tools: server.tools.filter(name => usable.has(name)),
    error: server.error === undefined ? undefined : 'unavailable',
    stderr: '',
    ...(breaker && { breaker: withoutError(breaker) }),
  }))
}

function withoutError({ error: _, ...breaker }: BreakerStatus): BreakerStatus {
  return breaker
}

/** A client that may not decide sees its own waiting calls only; one that may, those for tools it may use. */
export function approvalsFor(client: Client, approvals: readonly Approval[]): readonly Approval[] {
  if (!client.isNamed) return approvals
  const usable = new Set(client.tools().map(({ name }) => name))
  const seen = approvals.filter(({ tool, caller }) =>
    client.approves ? usable.has(tool) : caller === client.name,
  )
  return seen.map(approval => ({ ...approval, args: safeValue(approval.args) }))
}

const views = new WeakMap<Client, (type: string, data: unknown) => unknown>()

/**
 * The filter for a client's events, applying its current rights; always the same function for the same client.
 * `undefined` for the owner, who sees everything.
 */
export function viewOf(
  client: Client,
  current: () => Client,
): ((type: string, data: unknown) => unknown) | undefined {
  if (!client.isNamed) return undefined
  const view = views.get(client) ?? ((type, data) => eventFor(current(), type, data))
  views.set(client, view)
  return view
}

/** The data of an event as a named client may see it; `undefined` if it may not. */
function eventFor(client: Client, type: string, data: unknown): unknown {
  if (type === 'call' || type === 'progress' || type === 'run')
    return (data as { caller?: string }).caller === client.name ? data : undefined
  if (type === 'servers') return { servers: serversFor(client, (data as GatewayEvents['servers']).servers) }
  if (type === 'approvals')
    return { approvals: approvalsFor(client, (data as GatewayEvents['approvals']).approvals) }
  if (type === 'questions')
    return {
      questions: (data as GatewayEvents['questions']).questions.filter(question => sees(client, question)),
    }
  return data
}
