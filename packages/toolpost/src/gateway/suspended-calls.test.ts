import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Caller, QuestionAnswer } from '../tools/caller.ts'
import { ELICITATION_MS, MAX_ELICITATIONS } from './limits.ts'
import type { McpRequest } from './mcp-server/client-peer.ts'
import { type SuspendableWork, SuspendedCalls } from './mcp-server/suspended-calls.ts'

interface InputRequired {
  resultType: 'input_required'
  inputRequests: Record<string, { params: { message: string } }>
  requestState: string
}

function request(
  requestState?: string,
  inputResponses?: object,
  signal = new AbortController().signal,
): McpRequest {
  return { requestState: () => requestState, inputResponses, signal, notify: async () => {} } as never
}

const CAN_ASK = { elicitation: { form: {} } }
const accept = (to: string) => ({ action: 'accept', content: { to } })

function call<Result>(
  work: SuspendableWork<Result>['work'],
  given: Partial<SuspendableWork<Result>> = {},
): SuspendableWork<Result> {
  return { client: 'c', about: { name: 'tool' }, capabilities: CAN_ASK, work, ...given }
}

const asked = (outcome: unknown) => outcome as InputRequired
const ask = (peer: Caller, message: string): Promise<QuestionAnswer> | undefined => peer.ask?.({ message })

afterEach(() => void vi.useRealTimers())

describe('a suspended call', () => {
  it('hands out what was asked in one turn together, and goes on with the answers', async () => {
    const calls = new SuspendedCalls()
    let begun = 0
    const work = call(async peer => {
      begun++
      return Promise.all(['a', 'b', 'c'].map(message => ask(peer, message)))
    })
    const first = asked(await calls.run(request(), work))
    const messages = Object.values(first.inputRequests).map(({ params }) => params.message)
    expect(messages).toEqual(['a', 'b', 'c'])
    const responses = Object.fromEntries(
      Object.entries(first.inputRequests).map(([key, { params }]) => [key, accept(params.message)]),
    )
    const result = await calls.run(request(first.requestState, responses), work)
    expect(result).toEqual(['a', 'b', 'c'].map(accept))
    expect(begun).toBe(1)
  })

  it.each([
    ['another client', { client: 'other' }],
    ['another request', { about: { name: 'other' } }],
  ])('is not there for %s, and still is for its own', async (_, other) => {
    const calls = new SuspendedCalls()
    const work = call(async peer => ask(peer, 'a'))
    const { requestState } = asked(await calls.run(request(), work))
    const responses = { q1: accept('x') }
    await expect(calls.run(request(requestState, responses), { ...work, ...other })).rejects.toThrow(
      'no longer open',
    )
    expect(await calls.run(request(requestState, responses), work)).toEqual(accept('x'))
    await expect(calls.run(request(requestState, responses), work)).rejects.toThrow('no longer open')
  })

  it.each([
    ['nothing', undefined],
    ['a list', [1]],
    ['text', 'yes'],
    ['wrong keys', { other: accept('x') }],
    ['an answer of the wrong type', { q1: 'accept' }],
    ['an action that is none', { q1: { action: 'maybe' } }],
    ['a prototype', JSON.parse('{"__proto__":{"q1":{"action":"accept"}}}')],
  ])('takes %s for no decision', async (_, responses) => {
    const calls = new SuspendedCalls()
    const work = call(async peer => ask(peer, 'a'))
    const { requestState } = asked(await calls.run(request(), work))
    expect(await calls.run(request(requestState, responses as object), work)).toEqual({ action: 'cancel' })
  })

  it('takes content that is not an object for none', async () => {
    const calls = new SuspendedCalls()
    const work = call(async peer => ask(peer, 'a'))
    const { requestState } = asked(await calls.run(request(), work))
    const responses = { q1: { action: 'accept', content: [1] } }
    expect(await calls.run(request(requestState, responses), work)).toEqual({ action: 'accept' })
  })

  it('that never comes back is given up after a while', async () => {
    vi.useFakeTimers()
    const calls = new SuspendedCalls()
    let aborted = false
    const work = call(async (peer, signal) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return ask(peer, 'a')
    })
    const first = calls.run(request(), work)
    await vi.advanceTimersByTimeAsync(1)
    const { requestState } = asked(await first)
    await vi.advanceTimersByTimeAsync(ELICITATION_MS)
    expect(aborted).toBe(true)
    await expect(calls.run(request(requestState, {}), work)).rejects.toThrow('no longer open')
  })

  it('is given up when its client goes away while it works, and asks nothing more', async () => {
    const calls = new SuspendedCalls()
    const client = new AbortController()
    let late: unknown
    let begin = () => {}
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    const work = call(async (peer, signal) => {
      begin()
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      late = await ask(peer, 'after all')
      return 'ended'
    })
    const outcome = calls.run(request(undefined, undefined, client.signal), work)
    await begun
    client.abort()
    expect(await outcome).toBe('ended')
    expect(late).toEqual({ action: 'cancel' })
  })

  it('makes room at the cost of the client that has most, never at that of another', async () => {
    const calls = new SuspendedCalls()
    const work = call(async peer => ask(peer, 'a'))
    const mine = { ...work, client: 'mine' }
    const first = asked(await calls.run(request(), mine))
    const theirs: string[] = []
    for (let at = 0; at < MAX_ELICITATIONS + 50; at++)
      theirs.push(asked(await calls.run(request(), work)).requestState)
    expect(await calls.run(request(first.requestState, { q1: accept('x') }), mine)).toEqual(accept('x'))
    await expect(calls.run(request(theirs[0], { q1: accept('x') }), work)).rejects.toThrow('no longer open')
    expect(await calls.run(request(theirs.at(-1), { q1: accept('x') }), work)).toEqual(accept('x'))
  })

  it('declines what the client cannot show, and does not ask one that cannot be asked', async () => {
    const calls = new SuspendedCalls()
    const url = call(async peer => peer.ask?.({ message: 'a', url: 'https://example.com' }))
    expect(await calls.run(request(), url)).toEqual({
      action: 'decline',
      reason: 'the client cannot show it',
    })
    expect(
      await calls.run(
        request(),
        call(async peer => String(peer.ask), { capabilities: {} }),
      ),
    ).toBe('undefined')
  })

  it('runs once and gets each answer to its own question, however questions, answers and ends fall together', async () => {
    const step = fc.constantFrom('ask', 'ask two', 'pause', 'give up a question')
    const scripts = fc.array(fc.array(step, { maxLength: 6 }), { minLength: 1, maxLength: 6 })
    const order = fc.infiniteStream(fc.nat())
    await fc.assert(
      fc.asyncProperty(scripts, order, async (scripts, order) => {
        const calls = new SuspendedCalls()
        const runs = scripts.map(() => 0)
        const wrong: string[] = []
        const next = () => Number(order.next().value)
        const checked = async (peer: Caller, message: string, signal?: AbortSignal) => {
          const answer = await peer.ask?.({ message, ...(signal && { signal }) })
          const isOwn = answer?.action === 'accept' && answer.content?.to === message
          if (!isOwn && !signal?.aborted) wrong.push(message)
        }
        const works = scripts.map((script, id) =>
          call(
            async peer => {
              runs[id] = (runs[id] ?? 0) + 1
              for (const [at, each] of script.entries()) {
                const name = `${id}.${at}`
                if (each === 'ask') await checked(peer, name)
                if (each === 'ask two')
                  await Promise.all([checked(peer, `${name}a`), checked(peer, `${name}b`)])
                if (each === 'pause') await new Promise(resolve => setImmediate(resolve))
                if (each === 'give up a question') {
                  const given = new AbortController()
                  const asking = checked(peer, name, given.signal)
                  setImmediate(() => given.abort())
                  await asking
                }
              }
              return `result ${id}`
            },
            { about: { id } },
          ),
        )
        const open = works.map((_, id) => ({ id, state: undefined as string | undefined, responses: {} }))
        const results: unknown[] = []
        while (open.length > 0) {
          const [one] = open.splice(next() % open.length, 1)
          if (!one) break
          const work = works[one.id] as SuspendableWork<unknown>
          const outcome = await calls.run(request(one.state, one.responses), work)
          if (typeof outcome === 'string') results.push(outcome)
          else {
            const { requestState, inputRequests } = asked(outcome)
            const entries = Object.entries(inputRequests)
            const responses = Object.fromEntries(
              entries.map(([key, { params }]) => [key, accept(params.message)]),
            )
            open.push({ id: one.id, state: requestState, responses })
          }
        }
        expect(wrong).toEqual([])
        expect(runs).toEqual(scripts.map(() => 1))
        expect(results.toSorted()).toEqual(scripts.map((_, id) => `result ${id}`).toSorted())
      }),
      { numRuns: 60 },
    )
  })
})
