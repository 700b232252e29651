import { isRecord } from '../../runtime/guards.ts'
import type { QuestionAnswer } from '../../tools/caller.ts'
import { approvalsFor, sees } from '../client-view.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext } from '../context.ts'
import { type App, failure, json, readRecord } from '../http.ts'

/** Calls waiting for approval and the decisions; questions from tools to their callers and the answers. */
export function addApprovalRoutes(app: App, { source: { approvals }, questions }: GatewayContext): void {
  const approvalsOf = (client: Client) => approvalsFor(client, approvals?.list() ?? [])
  app.get('/api/approvals', c => json({ approvals: approvalsOf(c.get('client')) }))
  app.post('/api/approvals/:id', async c => {
    const body = await readRecord(c)
    if (body instanceof Response) return body
    const wish = decisionIn(body)
    if (typeof wish === 'string') return failure(400, wish)
    const client = c.get('client')
    if (!client.approves) return failure(403, 'This client may not decide about calls')
    const waiting = approvalsOf(client).find(({ id }) => id === c.req.param('id'))
    if (!waiting) return failure(404, 'No pending approval with this id')
    if (client.isNamed && waiting.caller === client.name)
      return failure(403, 'A client cannot approve its own calls')
    if (client.isNamed && wish.remember !== undefined)
      return failure(403, 'Only the owner can decide for later calls')
    const by = client.isNamed ? client.name : 'console'
    return json({ approval: approvals?.decide(waiting.id, wish.decision, { ...wish, by }) })
  })
  const questionsOf = (client: Client) => questions.list().filter(question => sees(client, question))
  app.get('/api/questions', c => json({ questions: questionsOf(c.get('client')) }))
  app.post('/api/questions/:id', async c => {
    const body = await readRecord(c)
    if (body instanceof Response) return body
    const answer = answerIn(body)
    if (typeof answer === 'string') return failure(400, answer)
    const question = questionsOf(c.get('client')).find(({ id }) => id === c.req.param('id'))
    if (!question) return failure(404, 'No open question with this id')
    const problem = await questions.answer(question.id, answer)
    return problem === undefined ? json({ question }) : failure(400, `Invalid answer: ${problem}`)
  })
}

/** The decision in the body, or what is wrong with it. */
function decisionIn({ decision, remember }: Record<string, unknown>) {
  if (decision !== 'approve' && decision !== 'deny')
    return "Invalid 'decision'; expected one of approve, deny"
  if (remember !== undefined && remember !== 'session' && remember !== 'always')
    return "Invalid 'remember'; expected one of session, always"
  return { decision, remember } as const
}

/** The answer in the body, or what is wrong with it. */
function answerIn({ action, content }: Record<string, unknown>): QuestionAnswer | string {
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
    return "Invalid 'action'; expected one of accept, decline, cancel"
  if (content !== undefined && !isRecord(content)) return "'content' must be an object"
  return { action, content }
}
