import { describe, expect, it, vi } from 'vitest'
import {
  as,
  deferred,
  echoTool,
  messageIn,
  newestRequest,
  PATIENCE,
  patientTool,
  type TestGateway,
  testGateway,
  toolNamed,
} from '../../test/gateway.ts'

const EXTENSION = 'io.modelcontextprotocol/tasks'

const schema = { type: 'object', properties: { text: { type: 'string' } } }

/** Asks two questions at once, when it is told to, and says what came of them. */
const mayAsk = deferred<void>()
const asking = toolNamed('asking', async (_args, options) => {
  await mayAsk.promise
  options.reportProgress?.({ progress: 1, message: 'about to ask' })
  const asked = ['Who?', 'Where?'].map(message => options.ask?.({ message, schema }))
  const answers = await Promise.all(asked)
  return answers.map(answer => answer?.content?.text ?? answer?.action ?? 'nobody').join(' ')
})

/** A client of the newest protocol by hand: that of the SDK does not know tasks. */
function modernClient(gateway: TestGateway, extensions: object = { [EXTENSION]: {} }, more = {}) {
  return async (method: string, params: Record<string, unknown> = {}) => {
    const { body, headers } = newestRequest(method, params, { elicitation: { form: {} }, extensions })
    return messageIn(await gateway.post('/mcp', body, { headers: { ...headers, ...more } }))
  }
}

type Send = ReturnType<typeof modernClient>

async function untilStatus(send: Send, taskId: string, status: string) {
  return vi.waitFor(async () => {
    const { result } = await send('tasks/get', { taskId })
    expect(result.status).toBe(status)
    return result
  }, PATIENCE)
}

describe('tasks for a client of the newest protocol', () => {
  it('a call that takes long becomes one; a short one does not', async () => {
    const { tool, finish } = patientTool()
    await using gateway = testGateway([tool, echoTool])
    const send = modernClient(gateway)
    expect((await send('server/discover')).result.capabilities).toMatchObject({
      extensions: { [EXTENSION]: {} },
    })
    expect((await send('server/discover')).result.capabilities).not.toHaveProperty('tasks')
    expect((await send('tools/call', { name: 'echo' })).result).toMatchObject({ resultType: 'complete' })
    const { result: created } = await send('tools/call', { name: 'patient' })
    expect(created).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'working',
      ttlMs: expect.any(Number),
      pollIntervalMs: expect.any(Number),
    })
    expect(created).not.toHaveProperty('content')
    const { taskId } = created
    expect((await send('tasks/get', { taskId })).result).toMatchObject({ status: 'working', taskId })
    finish('at last')
    expect(await untilStatus(send, taskId, 'completed')).toMatchObject({
      resultType: 'complete',
      result: { content: [{ type: 'text', text: 'at last' }] },
    })
  })

  it('cancelling reaches the tool, and may be done again', async () => {
    const { tool, aborted } = patientTool()
    await using gateway = testGateway([tool])
    const send = modernClient(gateway)
    const { taskId } = (await send('tools/call', { name: 'patient' })).result
    for (let times = 0; times < 2; times++) {
      const { result } = await send('tasks/cancel', { taskId })
      expect(result).toMatchObject({ resultType: 'complete' })
      expect(result).not.toHaveProperty('taskId')
    }
    await aborted
    expect((await send('tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' })
  })

  it('asks the client, who answers one question after the other', async () => {
    await using gateway = testGateway([asking])
    const send = modernClient(gateway)
    const { taskId, resultType } = (await send('tools/call', { name: 'asking' })).result
    expect(resultType).toBe('task')
    mayAsk.resolve()
    const { inputRequests } = await untilStatus(send, taskId, 'input_required')
    const [first = '', second = ''] = Object.keys(inputRequests)
    expect(inputRequests[first]).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } })
    const answer = (key: string, text: string) => ({ [key]: { action: 'accept', content: { text } } })
    await send('tasks/update', { taskId, inputResponses: { ...answer(first, 'Ann'), unknown: 5 } })
    const partly = (await send('tasks/get', { taskId })).result
    expect(partly).toMatchObject({ status: 'input_required' })
    expect(Object.keys(partly.inputRequests)).toEqual([second])
    await send('tasks/update', { taskId, inputResponses: answer(second, 'here') })
    expect(await untilStatus(send, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'Ann here' }] },
    })
  })

  it('a task of another client does not exist', async () => {
    const { tool } = patientTool()
    const clients = { ann: { token: 'token-of-ann-0123456' }, bob: { token: 'token-of-bob-0123456' } }
    await using gateway = testGateway([tool], { clients })
    const of = (name: 'ann' | 'bob') => modernClient(gateway, undefined, as(clients[name].token))
    const { taskId } = (await of('ann')('tools/call', { name: 'patient' })).result
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await of('bob')(method, { taskId, inputResponses: {} })
      expect(error).toMatchObject({ code: -32602, message: 'Task not found' })
    }
    expect((await of('ann')('tasks/get', { taskId })).result).toMatchObject({ status: 'working' })
  })
})
