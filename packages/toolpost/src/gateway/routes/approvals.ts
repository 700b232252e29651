import type { Decision } from '../../interceptors/approval.ts'
import { changeText, type PinChange } from '../../interceptors/pins.ts'
import { isRecord } from '../../util/guards.ts'
import type { GatewayContext } from '../context.ts'
import { type App, type Body, failure, json, type RequestContext, withBody } from '../http.ts'

/** Changed tools; calls waiting for approval and the decisions; questions from tools to their callers and the answers. */
export function addApprovalRoutes(app: App, { source, questions }: GatewayContext): void {
  const { approvals, pins } = source
  const shown = (changes: readonly PinChange[] = []) =>
    json({ changes: changes.map(change => ({ ...change, text: changeText(change) })) })
  const refuseNamed = ({ env }: RequestContext) =>
    env.client.isNamed ? failure(403, 'Only the owner sees and accepts changed tools') : undefined
  app.get('/api/pins', c => refuseNamed(c) ?? shown(pins?.changes()))
  app.post('/api/pins/accept', c => {
    const accept = ({ server }: Body) => {
      if (server !== undefined && typeof server !== 'string') return failure(400, "'server' must be a string")
      return shown(pins?.accept(server))
    }
    return refuseNamed(c) ?? withBody(c, accept)
  })
  app.get('/api/approvals', c => json({ approvals: c.env.client.seenApprovals(approvals?.list()) }))
  app.post('/api/approvals/:id', c => withBody(c, body => decide(c, body)))
  app.get('/api/questions', c =>
    json({ questions: questions.list().filter(question => c.env.client.sees(question)) }),
  )
  app.post('/api/questions/:id', c =>
    withBody(c, async body => {
      const { action, content } = body
      const invalid = invalidChoice(body, 'action', ['accept', 'decline', 'cancel'])
      if (invalid) return invalid
      if (content !== undefined && !isRecord(content)) return failure(400, "'content' must be an object")
      const question = questions.list().find(({ id }) => id === c.req.param('id'))
      if (!question || !c.env.client.sees(question)) return failure(404, 'No open question with this id')
      const problem = await questions.answer(question.id, { action: action as 'accept', content })
      return problem === undefined ? json({ question }) : failure(400, `Invalid answer: ${problem}`)
    }),
  )

  function decide(c: RequestContext, body: Body): Response {
    const { client } = c.env
    const { decision, remember, scope, reason } = body
    const invalid =
      invalidChoice(body, 'decision', ['approve', 'deny']) ??
      invalidChoice(body, 'remember', [undefined, 'session', 'always']) ??
      invalidChoice(body, 'scope', [undefined, 'tool', 'server'])
    if (invalid) return invalid
    if (reason !== undefined && typeof reason !== 'string') return failure(400, "'reason' must be a string")
    if (!client.approves) return failure(403, 'This client may not decide about calls')
    const waiting = client.seenApprovals(approvals?.list()).find(({ id }) => id === c.req.param('id'))
    if (!waiting) return failure(404, 'No pending approval with this id')
    if (client.isNamed && waiting.caller === client.name)
      return failure(403, 'A client cannot approve its own calls')
    if (client.isNamed && (remember !== undefined || scope !== undefined))
      return failure(403, 'Only the owner can decide for later calls')
    if (scope === 'server' && waiting.server === undefined)
      return failure(400, `'${waiting.tool}' is not a tool of a server`)
    const by = client.isNamed ? client.name : 'console'
    // A scope without `remember` holds until the process ends.
    const about = { remember: remember ?? (scope && 'session'), scope, reason, by } as Decision
    return json({ approval: approvals?.decide(waiting.id, decision as 'approve' | 'deny', about) })
  }
}

function invalidChoice(body: Body, name: string, choices: readonly unknown[]): Response | undefined {
  if (choices.includes(body[name])) return undefined
  return failure(400, `Invalid '${name}'; expected one of ${choices.filter(Boolean).join(', ')}`)
}
