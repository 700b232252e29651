import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'
import { defineTool, type InvokeOptions, type ToolTraits } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

const MINUTE = 60_000
const ACCEPTED: QuestionAnswer = { action: 'accept', content: {} }

/** An executor on a clock of its own with one tool, and a person who answers when the test says so. */
function asking(invoke: (options: InvokeOptions) => unknown, traits: ToolTraits = { timeoutMs: 30_000 }) {
  const clock = fakeClock()
  const about = { name: 'tool', description: 'Asks', schema: { type: 'object' } as const }
  const tool = defineTool({ ...about, ...traits, handler: (_args, options) => invoke(options) })
  const executor = new ToolExecutor(new ToolManager({ tools: [tool] }), { clock })
  const asked: Question[] = []
  const answers: ((answer: QuestionAnswer) => void)[] = []
  const ask: Ask = question => {
    asked.push(question)
    return new Promise(resolve => answers.push(resolve))
  }
  const run = (signal?: AbortSignal) => executor.run({ name: 'tool' }, { ask, ...(signal && { signal }) })
  return { clock, executor, run, asked, answer: (at = 0) => answers[at]?.(ACCEPTED) }
}

const never = () => new Promise<never>(() => {})
const question = { message: 'May I?' }

describe('a tool that asks whoever made the call', () => {
  it('gets the answer, and does not pay for the time it took', async () => {
    const { clock, run, asked, answer } = asking(async ({ ask }) => (await ask?.(question))?.action)
    const result = run()
    await clock.advance(4 * MINUTE)
    expect(asked).toMatchObject([question])
    answer()
    expect(await result).toMatchObject({ success: true, result: 'accept', waited_ms: 4 * MINUTE })
  })

  it('ends with a timeout if nobody ever answers: five minutes and the rest of its time later', async () => {
    const { clock, run, asked } = asking(async ({ ask }) => ask?.(question))
    const result = run()
    await clock.advance(5 * MINUTE + 29_999)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    expect(asked[0]?.signal?.aborted).toBe(false)
    await clock.advance(1)
    const error = expect.stringContaining('30000 ms')
    expect(await result).toMatchObject({ code: 'timeout', error, waited_ms: 5 * MINUTE })
    expect(asked[0]?.signal?.aborted).toBe(true)
  })

  it('is cancelled while it asks, and its question with it', async () => {
    const caller = new AbortController()
    const { clock, run, asked } = asking(async ({ ask }) => ask?.(question))
    const result = run(caller.signal)
    await clock.advance(MINUTE)
    caller.abort()
    expect(await result).toMatchObject({ code: 'cancelled', waited_ms: MINUTE })
    expect(asked[0]?.signal?.aborted).toBe(true)
  })

  it('asks nobody once the call has ended', async () => {
    let late: Promise<unknown> | undefined
    const { clock, run, asked } = asking(({ ask, signal }) => {
      signal.addEventListener('abort', () => {
        late = ask?.(question)
      })
      return never()
    })
    const result = run()
    await clock.advance(30_000)
    expect(await result).toMatchObject({ code: 'timeout' })
    expect(await late).toEqual({ action: 'cancel' })
    expect(asked).toEqual([])
  })

  it('never gets more of its own time than maxTimeoutMs, however long it asks', async () => {
    const limits = { timeoutMs: 30_000, maxTimeoutMs: 60_000 }
    const { clock, run, answer } = asking(async options => {
      await options.ask?.(question)
      const report = () => {
        options.reportProgress?.({ progress: 1 })
        clock.setTimer(report, 10_000)
      }
      report()
      return never()
    }, limits)
    const result = run()
    await clock.advance(3 * MINUTE)
    answer()
    await clock.advance(59_999)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    await clock.advance(1)
    expect(await result).toMatchObject({ code: 'timeout', waited_ms: 3 * MINUTE })
  })
})
