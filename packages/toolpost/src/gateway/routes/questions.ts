import type { Hono } from 'hono'
import { isRecord } from '../../runtime/guards.ts'
import type { QuestionAnswer } from '../../tools/caller.ts'
import { sees } from '../client-view.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'
import { preferencesOf } from '../http/preferences.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_ANSWER_BYTES } from '../limits.ts'

/** Questions from tools to their callers over HTTP, and the answers. */
export function addQuestionRoutes(app: Hono, { questions, clients }: GatewayContext): void {
  const seenBy = (request: Request) => {
    const client = clients.of(request)
    return questions.list().filter(question => sees(client, question))
  }
  app.get('/api/questions', c => json({ questions: seenBy(c.req.raw) }))
  app.post('/api/questions/:id', async c => {
    const body = await readJson(c.req.raw, MAX_ANSWER_BYTES)
    if (body instanceof Response) return body
    const answer = answerIn(body.value)
    if (typeof answer === 'string') return failure(400, answer)
    const question = seenBy(c.req.raw).find(({ id }) => id === c.req.param('id'))
    if (!question) return failure(404, 'No open question with this id')
    const problem = await questions.answer(question.id, answer)
    return problem === undefined ? json({ question }) : failure(400, `Invalid answer: ${problem}`)
  })
}

/** The answer in the body, or what is wrong with it. */
function answerIn(body: unknown): QuestionAnswer | string {
  const { action, content } = isRecord(body) ? body : {}
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
    return "Invalid 'action'; expected one of accept, decline, cancel"
  if (content !== undefined && !isRecord(content)) return "'content' must be an object"
  return { action, content }
}

/** Whether the caller watches for questions. Others are never asked. */
export function wantsQuestions(request: Request): boolean {
  return preferencesOf(request).has('questions')
}
