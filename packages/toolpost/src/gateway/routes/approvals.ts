import type { Decision } from '../../interceptors/approval.ts'
import { changeText, type PinChange } from '../../interceptors/pins.ts'
import type { QuestionAnswer } from '../../tools/caller.ts'
import type { GatewayContext } from '../context.ts'
import { type App, bodyOf, json, ownerOnly, refusal } from '../http.ts'

/** Changed tools; calls waiting for approval and the decisions; questions from tools to their callers and the answers. */
export function addApprovalRoutes(app: App, { source, questions }: GatewayContext): void {
  const { approvals, pins } = source
  const shown = (changes: readonly PinChange[] = []) =>
    json({ changes: changes.map(change => ({ ...change, text: changeText(change) })) })
  app.get('/api/pins', c => {
    ownerOnly(c)
    return shown(pins?.changes())
  })
  app.post('/api/pins/accept', async c => {
    ownerOnly(c)
    const { server } = await bodyOf<{ server?: string }>(c, { 'server?': 'string' })
    return shown(pins?.accept(server))
  })
  app.get('/api/approvals', c => json({ approvals: c.env.client.seenApprovals(approvals?.list()) }))
  app.post('/api/approvals/:id', async c => {
    const { client } = c.env
    const { decision, remember, scope, reason } = await bodyOf(c, {
      decision: ['approve', 'deny'],
      'remember?': ['session', 'always'],
      'scope?': ['tool', 'server'],
      'reason?': 'string',
    })
    if (!client.approves) throw refusal(403, 'This client may not decide about calls')
    const waiting = client.seenApprovals(approvals?.list()).find(({ id }) => id === c.req.param('id'))
    if (!waiting) throw refusal(404, 'No pending approval with this id')
    if (client.isNamed && waiting.caller === client.name)
      throw refusal(403, 'A client cannot approve its own calls')
    if (client.isNamed && (remember !== undefined || scope !== undefined))
      throw refusal(403, 'Only the owner can decide for later calls')
    if (scope === 'server' && waiting.server === undefined)
      throw refusal(400, `'${waiting.tool}' is not a tool of a server`)
    const by = client.isNamed ? client.name : 'console'
    // A scope without `remember` holds until the process ends.
    const about = { remember: remember ?? (scope && 'session'), scope, reason, by } as Decision
    const approval = approvals?.decide(waiting.id, decision as 'approve' | 'deny', about)
    if (!approval) throw refusal(404, 'No pending approval with this id')
    return json({ approval })
  })
  app.get('/api/questions', c =>
    json({ questions: questions.list().filter(question => c.env.client.sees(question)) }),
  )
  app.post('/api/questions/:id', async c => {
    const answer = await bodyOf<QuestionAnswer>(c, {
      action: ['accept', 'decline', 'cancel'],
      'content?': 'object',
    })
    const question = questions.list().find(({ id }) => id === c.req.param('id'))
    if (!question || !c.env.client.sees(question)) throw refusal(404, 'No open question with this id')
    const problem = await questions.answer(question.id, answer)
    if (problem !== undefined) throw refusal(400, `Invalid answer: ${problem}`)
    return json({ question })
  })
}
