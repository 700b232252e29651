import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'
import type { ServerEntry } from './server-entry.ts'
import { offeringHttpServer, offeringServer } from './test-servers/offering.ts'

const json = (result: unknown) => JSON.parse((result as { result: string }).result)
const form = { requestedSchema: { type: 'object', properties: {} } }

function person(answer: QuestionAnswer = { action: 'accept', content: { a: 1 } }) {
  const asked: Question[] = []
  const ask: Ask = async question => {
    asked.push(question)
    return answer
  }
  return { asked, ask }
}

describe('what a server asks', () => {
  const started = (entry: Partial<ServerEntry> = {}) =>
    startServers({ one: { ...offeringServer(), ...entry } as ServerEntry })

  it('is answered by whoever made the call, who reads which server it is; otherwise it is declined', async () => {
    await using servers = await started()
    const { asked, ask } = person()
    const call = { name: 'ask', args: { message: 'Name?', ...form } }
    expect(json(await servers.executor.run(call, { ask }))).toMatchObject({
      answered: { action: 'accept', content: { a: 1 } },
    })
    expect(asked).toMatchObject([{ message: 'Name?', server: 'one', schema: form.requestedSchema }])
    expect(json(await servers.executor.run(call))).toMatchObject({ answered: { action: 'decline' } })
    expect(JSON.stringify(servers.log.at('warn'))).toContain('this caller cannot answer prompts: Name?')
  })

  it('must be of a reasonable size, and an address one of the web', async () => {
    await using servers = await started()
    const { asked, ask } = person()
    const repliesTo = async (params: object) => {
      const args = { method: 'elicitation/create', params, count: 1 }
      return json(await servers.executor.run({ name: 'flood', args }, { ask }))
    }
    const long = 'x'.repeat(1_000_000)
    const script = { mode: 'url', message: 'x', url: 'javascript:alert(1)' }
    const large = { message: 'x', requestedSchema: { type: 'object', description: long } }
    for (const params of [{ message: long, ...form }, large, script])
      expect(await repliesTo(params)).toEqual({ replies: 1, refused: 1 })
    expect(asked).toEqual([])
    const visit = { mode: 'url', message: 'Log in', url: 'https://example.com/login' }
    expect(await repliesTo(visit)).toEqual({ replies: 1, refused: 0 })
    expect(asked).toMatchObject([{ url: 'https://example.com/login' }])
  })

  it('for a model or for roots is answered only if the configuration allows it', async () => {
    const sample = async () => ({ role: 'assistant' })
    await using closed = await started()
    const text = async ({ executor }: typeof closed, name: string) =>
      JSON.stringify(await executor.run({ name }, { sample }))
    expect(await text(closed, 'sample')).toContain('Method not found')
    expect(await text(closed, 'roots')).toContain('none')
    await using open = await started({ sampling: true, roots: ['/home/x', { uri: 'file:///y', name: 'Y' }] })
    expect(await text(open, 'sample')).toContain('assistant')
    expect(json(await open.executor.run({ name: 'roots' }))).toEqual({
      roots: [{ uri: 'file:///home/x' }, { uri: 'file:///y', name: 'Y' }],
    })
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
    await using entry = await offeringHttpServer()
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
