import type { Hono } from 'hono'
import type { Decision } from '../../interceptors/index.ts'
import { isRecord } from '../../runtime/guards.ts'
import type { Client } from '../client.ts'
import { approvalsFor } from '../client-view.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'

const MAX_DECISION_BYTES = 10_000

/** Calls waiting for approval, and the decisions. */
export function addApprovalRoutes(app: Hono, { source: { approvals }, clients }: GatewayContext): void {
  const seenBy = (client: Client) => approvalsFor(client, approvals?.list() ?? [])
  app.get('/api/approvals', c => json({ approvals: seenBy(clients.of(c.req.raw)) }))
  app.post('/api/approvals/:id', async c => {
    const body = await readJson(c.req.raw, MAX_DECISION_BYTES)
    if (body instanceof Response) return body
    const wish = decisionIn(body.value)
    if (typeof wish === 'string') return failure(400, wish)
    const client = clients.of(c.req.raw)
    if (!client.approves) return failure(403, 'This client may not decide about calls')
    const waiting = seenBy(client).find(({ id }) => id === c.req.param('id'))
    if (!waiting) return failure(404, 'No pending approval with this id')
    if (client.isNamed && waiting.caller === client.name)
      return failure(403, 'A client cannot approve its own calls')
    if (client.isNamed && wish.remember !== undefined)
      return failure(403, 'Only the owner can decide for later calls')
    const by = client.isNamed ? client.name : 'console'
    return json({ approval: approvals?.decide(waiting.id, wish.decision, { ...wish, by }) })
  })
}

interface RequestedDecision extends Pick<Decision, 'remember'> {
  decision: 'approve' | 'deny'
}

/** What the body asks for, or what is wrong with it. */
function decisionIn(body: unknown): RequestedDecision | string {
  const { decision, remember } = isRecord(body) ? body : {}
  if (decision !== 'approve' && decision !== 'deny')
    return "Invalid 'decision'; expected one of approve, deny"
  if (remember !== undefined && remember !== 'session' && remember !== 'always')
    return "Invalid 'remember'; expected one of session, always"
  return { decision, remember }
}
