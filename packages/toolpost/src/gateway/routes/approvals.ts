import type { Hono } from 'hono'
import type { Decision } from '../../interceptors/index.ts'
import { isRecord } from '../../runtime/guards.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'

const MAX_DECISION_BYTES = 10_000

/** Calls that wait for a person, and what the person says. */
export function addApprovalRoutes(app: Hono, { source: { approvals } }: GatewayContext): void {
  app.get('/api/approvals', () => json({ approvals: approvals?.list() ?? [] }))
  app.post('/api/approvals/:id', async c => {
    const body = await readJson(c.req.raw, MAX_DECISION_BYTES)
    if (body instanceof Response) return body
    const wish = decisionIn(body.value)
    if (typeof wish === 'string') return failure(400, wish)
    const approval = approvals?.decide(c.req.param('id'), wish.decision, { ...wish, by: 'console' })
    return approval ? json({ approval }) : failure(404, 'No approval with this id is waiting')
  })
}

interface Wish extends Pick<Decision, 'remember'> {
  decision: 'approve' | 'deny'
}

/** What the body asks for, or what is wrong with it. */
function decisionIn(body: unknown): Wish | string {
  const { decision, remember } = isRecord(body) ? body : {}
  if (decision !== 'approve' && decision !== 'deny')
    return "Invalid 'decision'; expected one of approve, deny"
  if (remember !== undefined && remember !== 'session' && remember !== 'always')
    return "Invalid 'remember'; expected one of session, always"
  return { decision, remember }
}
