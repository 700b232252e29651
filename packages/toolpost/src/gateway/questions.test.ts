import { describe, expect, it } from 'vitest'
import { as, dataOf, executorOf, PATIENCE, testGateway, toolNamed } from '../../test/gateway.ts'
import { ModelClient } from '../models/index.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { OpenQuestion } from './api-types.ts'

const CLAUDE = 'claude-token-0123456789'
const HOME = 'home-token-0123456789!?'
const OWN = 'own-token-0123456789abc'
const clients = { claude: { token: CLAUDE }, home: { token: HOME } }
const ASKABLE = { prefer: 'respond-async, questions' }

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    age: { type: 'integer', minimum: 0 },
    code: { type: 'string', pattern: '^[A-Z]{3}$' },
  },
  required: ['name'],
}

/** A tool that answers with what it was answered. */
const asking = (question: object = { message: 'Who are you?', server: 'forms', schema }) =>
  toolNamed('asks', async (_, { ask }) => (ask ? ask(question as never) : 'nobody to ask'))

function setUp(question?: object, options: object = {}) {
  const gateway = testGateway([asking(question)], { clients, token: OWN, ...options })
  const call = (token = CLAUDE, init: RequestInit = {}) =>
    gateway.post('/api/tools/asks/call', {}, { ...init, headers: { ...as(token), ...ASKABLE } })
  const list = async (token = CLAUDE): Promise<OpenQuestion[]> =>
    (await dataOf(gateway.get('/api/questions', as(token)))).questions
  const open = async (token = CLAUDE): Promise<OpenQuestion> => {
    await expect.poll(async () => (await list(token)).length, PATIENCE).toBeGreaterThan(0)
    return (await list(token))[0] as OpenQuestion
  }
  const answer = (id: string, body: unknown, token = CLAUDE) =>
    gateway.post(`/api/questions/${id}`, body, { headers: as(token) })
  return { gateway, call, list, open, answer }
}

const resultOf = async (response: Promise<Response>) => (await dataOf(response)).result

describe('questions over HTTP', () => {
  it('reach whoever made the call, and the answer the tool', async () => {
    const { gateway, call, open, answer, list } = setUp()
    await using _ = gateway
    const called = call()
    const { id, ...question } = await open()
    const asked = { message: 'Who are you?', server: 'forms', tool: 'asks', caller: 'claude', schema }
    expect(question).toMatchObject(asked)
    const content = { name: 'Ada', age: 36, stray: true }
    expect((await answer(id, { action: 'accept', content })).status).toBe(200)
    expect(await resultOf(called)).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } })
    expect(await list()).toEqual([])
    expect((await answer(id, { action: 'accept', content })).status).toBe(404)
  })

  it('are neither seen nor answered by another client, but by the owner', async () => {
    const { gateway, call, open, answer, list } = setUp()
    await using _ = gateway
    const called = call()
    const { id } = await open()
    expect(await list(HOME)).toEqual([])
    expect((await answer(id, { action: 'decline' }, HOME)).status).toBe(404)
    expect(await list(OWN)).toHaveLength(1)
    const refused = await answer(id, { action: 'accept', content: { name: 'A' } }, OWN)
    expect(refused.status).toBe(400)
    expect((await dataOf(refused)).error).toMatch(/Invalid answer: 'name'/)
    expect((await answer(id, { action: 'decline' }, OWN)).status).toBe(200)
    expect(await resultOf(called)).toEqual({ action: 'decline' })
  })

  it('reach the person of a chat', async () => {
    const executor = executorOf(asking())
    const model = scriptedModel({ calls: [{ name: 'asks' }] }, 'Done')
    const { gateway, open, answer } = setUp(undefined, { executor, client: new ModelClient({ model }) })
    await using _ = gateway
    const headers = { ...as(CLAUDE), ...ASKABLE }
    const chat = await gateway.post('/api/chat', { message: 'go' }, { headers })
    const { id, caller } = await open()
    expect(caller).toBe('claude')
    await answer(id, { action: 'accept', content: { name: 'Ada' } })
    const text = await chat.text()
    expect(text).toContain('\\"name\\":\\"Ada\\"'.replaceAll('\\', ''))
    expect(text).toContain('Done')
  })
})
