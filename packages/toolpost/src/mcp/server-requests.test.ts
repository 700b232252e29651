import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'
import type { ServerEntry } from './server-entry.ts'
import { ServerRequests } from './server-requests.ts'
import { offeringHttpServer, offeringServer } from './test-servers/offering.ts'

const PATIENCE = { interval: 10, timeout: 10_000 }
const json = (result: unknown) => JSON.parse((result as { result: string }).result)
const form = { requestedSchema: { type: 'object', properties: {} } }

function requestsOf(entry: Partial<ServerEntry> = {}) {
  const refused: string[] = []
  const requests = new ServerRequests({
    server: 'one',
    entry: { command: 'x', ...entry } as ServerEntry,
    onRefused: reason => refused.push(reason),
  })
  return { requests, refused }
}

function person(answer: QuestionAnswer = { action: 'accept', content: { a: 1 } }) {
  const asked: Question[] = []
  const ask: Ask = async question => {
    asked.push(question)
    return answer
  }
  return { asked, ask }
}

describe('what a server asks', () => {
  it('is answered by whoever made the call, who reads which server it is', async () => {
    const { requests } = requestsOf()
    const { asked, ask } = person()
    const answer = await requests.answer(
      'elicitation/create',
      { message: 'Name?', ...form },
      { from: { ask } },
    )
    expect(answer).toEqual({ action: 'accept', content: { a: 1 } })
    expect(asked).toMatchObject([{ message: 'Name?', server: 'one', schema: form.requestedSchema }])
  })

  it('has no content either if it is an address to visit, which must be one of the web', async () => {
    const { requests } = requestsOf()
    const { asked, ask } = person()
    const visit = (url: unknown) =>
      requests.answer('elicitation/create', { mode: 'url', message: 'Log in', url }, { from: { ask } })
    expect(await visit('https://example.com/login')).toEqual({ action: 'accept' })
    expect(asked).toMatchObject([{ url: 'https://example.com/login' }])
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', '', 7, undefined])
      await expect(visit(url)).rejects.toMatchObject({ rpcCode: -32_602 })
    expect(asked).toHaveLength(1)
  })

  it('is declined if this caller cannot answer prompts, and said', async () => {
    const { requests, refused } = requestsOf()
    expect(await requests.answer('elicitation/create', { message: 'Name?' }, {})).toEqual({
      action: 'decline',
    })
    expect(refused).toEqual(['The server asked a question, but this caller cannot answer prompts: Name?'])
  })

  it.each([
    ['a message of 1 MB', { message: 'x'.repeat(1_000_000), ...form }],
    [
      'a schema of 1 MB',
      { message: 'x', requestedSchema: { type: 'object', description: 'x'.repeat(1_000_000) } },
    ],
    [
      'a schema of 100,000 parts',
      { requestedSchema: { enum: Array.from({ length: 100_000 }, (_, at) => ({ at })) } },
    ],
  ])('is refused if it is %s', async (_, params) => {
    const { requests } = requestsOf()
    const { asked, ask } = person()
    await expect(requests.answer('elicitation/create', params, { from: { ask } })).rejects.toMatchObject({
      rpcCode: -32_602,
    })
    expect(asked).toEqual([])
  })

  it('for a model or for roots is declared and answered only if the configuration allows it', async () => {
    const { requests, refused } = requestsOf()
    expect(requests.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      extensions: expect.anything(),
    })
    const sample = async () => ({ role: 'assistant' })
    await expect(requests.answer('sampling/createMessage', {}, { from: { sample } })).rejects.toThrow(
      'No model',
    )
    expect(refused).toHaveLength(1)
    const { requests: open } = requestsOf({
      sampling: true,
      roots: ['/home/x', { uri: 'file:///y', name: 'Y' }],
    })
    expect(open.capabilities).toMatchObject({ sampling: {}, roots: {} })
    expect(await open.answer('sampling/createMessage', {}, { from: { sample } })).toEqual({
      role: 'assistant',
    })
    expect(await open.answer('roots/list', {}, {})).toEqual({
      roots: [{ uri: 'file:///home/x' }, { uri: 'file:///y', name: 'Y' }],
    })
    await expect(open.answer('tools/call', {}, {})).rejects.toMatchObject({ rpcCode: -32_601 })
  })
})

describe('two callers with calls under way on one server', () => {
  it('are not asked each other’s questions, and read none of each other’s logs', async () => {
    await using servers = await startServers({ one: offeringServer() })
    const { executor, log } = servers
    const [ada, bob] = [person(), person()]
    const logs: unknown[] = []
    const caller = { ask: ada.ask, peer: 'ada', onLog: (message: unknown) => logs.push(message) }
    const holding = executor.run({ name: 'hold' }, caller)
    const message = { method: 'notifications/message', params: { level: 'error', data: 'hers' } }
    await executor.run({ name: 'notify', args: message }, { ...caller, ask: bob.ask, peer: 'bob' })
    const asking = await executor.run(
      { name: 'ask', args: { message: 'Whose?' } },
      { ask: bob.ask, peer: 'bob' },
    )
    expect(json(asking)).toEqual({ answered: { action: 'decline' } })
    expect([ada.asked, bob.asked, logs]).toEqual([[], [], []])
    expect(log.text()).toContain('this caller cannot answer prompts: Whose?')
    await executor.run({ name: 'release' })
    await holding
    expect(json(await executor.run({ name: 'ask' }, { ask: bob.ask, peer: 'bob' }))).toMatchObject({
      answered: { action: 'accept' },
    })
    expect(bob.asked).toHaveLength(1)
  })

  it('are each asked their own over HTTP, where it can be told', async () => {
    await using entry = await offeringHttpServer({ protocol: 'modern' })
    await using servers = await startServers({ one: { url: entry.url } })
    const { executor } = servers
    const [ada, bob] = [person(), person()]
    const holding = executor.run({ name: 'hold' }, { ask: ada.ask, peer: 'ada' })
    const asking = await executor.run({ name: 'ask' }, { ask: bob.ask, peer: 'bob' })
    expect(json(asking)).toMatchObject({ answered: { action: 'accept' } })
    expect([ada.asked.length, bob.asked.length]).toEqual([0, 1])
    await executor.run({ name: 'release' })
    await holding
  })
})

describe('a flood of questions', () => {
  it.each([
    ['while nobody is there', undefined],
    ['while somebody is', person().ask],
  ])(
    'is felt by nobody else %s',
    async (_, ask) => {
      await using servers = await startServers({ one: offeringServer() })
      const args = { method: 'elicitation/create', params: { message: 'x', ...form }, count: 5_000 }
      const flood = () =>
        servers.executor.run({ name: 'flood', args }, { timeoutMs: 60_000, ...(ask && { ask }) })
      expect(json(await unharmed(flood))).toMatchObject({ replies: 5_000 })
      await expect.poll(() => servers.log.at('warn').length, PATIENCE).toBeLessThan(100)
    },
    90_000,
  )
})
