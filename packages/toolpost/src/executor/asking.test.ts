import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'
import { defineTool, type InvokeOptions } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

const MINUTE = 60_000
const ACCEPTED: QuestionAnswer = { action: 'accept', content: {} }

type Handler = (options: InvokeOptions) => unknown
interface Limits {
  timeoutMs?: number
  maxTimeoutMs?: number
}

/** An executor on a clock of its own with one tool, and a person who answers when the test says so. */
function asking(handler: Handler, limits: Limits = { timeoutMs: 30_000 }) {
  const clock = fakeClock()
  const tools = new ToolManager()
  const schema = { type: 'object' } as const
  tools.addCustomTool(
    defineTool({
      name: 'tool',
      description: 'Asks',
      schema,
      ...limits,
      handler: (_args, options) => handler(options),
    }),
  )
  const executor = new ToolExecutor(tools, { clock })
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

  it('has after the answer what was left before the question, and no more', async () => {
    const { clock, run, answer } = asking(async ({ ask, signal }) => {
      await new Promise<void>(resolve => clock.setTimer(resolve, 20_000))
      await ask?.(question)
      signal.throwIfAborted()
      return never()
    })
    const result = run()
    await clock.advance(20_000)
    await clock.advance(2 * MINUTE)
    answer()
    await clock.advance(9_999)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    await clock.advance(1)
    expect(await result).toMatchObject({
      code: 'timeout',
      error: expect.stringContaining('30000 ms'),
      execution_time_ms: 2 * MINUTE + 30_000,
      waited_ms: 2 * MINUTE,
    })
  })

  it('may ask before it has returned anything', async () => {
    let answered: Promise<QuestionAnswer> | undefined
    const { clock, run, answer } = asking(({ ask }) => {
      answered = ask?.(question)
      return answered?.then(never)
    })
    const result = run()
    await clock.advance(MINUTE)
    answer()
    await clock.advance(29_999)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    await clock.advance(1)
    expect(await result).toMatchObject({ code: 'timeout', waited_ms: MINUTE })
  })

  it('waits once for two questions that overlap', async () => {
    const { clock, run, answer } = asking(async ({ ask }) => {
      const first = ask?.(question)
      await new Promise<void>(resolve => clock.setTimer(resolve, 10_000))
      await Promise.all([first, ask?.(question)])
      return never()
    })
    const result = run()
    await clock.advance(20_000)
    answer(0)
    await clock.advance(10_000)
    answer(1)
    await clock.advance(29_999)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    await clock.advance(1)
    expect(await result).toMatchObject({ code: 'timeout', execution_time_ms: 60_000, waited_ms: 30_000 })
  })

  it('waits for each of two questions that follow each other', async () => {
    const { clock, run, answer } = asking(async ({ ask }) => {
      await ask?.(question)
      await ask?.(question)
      return 'done'
    })
    const result = run()
    await clock.advance(4 * MINUTE)
    answer(0)
    await clock.advance(4 * MINUTE)
    answer(1)
    expect(await result).toMatchObject({ success: true, waited_ms: 8 * MINUTE })
  })

  it('[F67] ends with a timeout if nobody ever answers: five minutes and the rest of its time later', async () => {
    const { clock, run, asked } = asking(async ({ ask }) => ask?.(question))
    const result = run()
    await clock.advance(5 * MINUTE + 29_999)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    expect(asked[0]?.signal?.aborted).toBe(false)
    await clock.advance(1)
    expect(await result).toMatchObject({
      code: 'timeout',
      error: expect.stringContaining('30000 ms'),
      waited_ms: 5 * MINUTE,
    })
    expect(asked[0]?.signal?.aborted).toBe(true)
  })

  it('is not held for ever by questions that always overlap', async () => {
    const { clock, run, answer } = asking(({ ask, signal }) => {
      const askOn = async () => {
        while (!signal.aborted) await ask?.(question)
      }
      void askOn()
      return new Promise(() => clock.setTimer(() => void askOn(), 1_000))
    })
    const result = run()
    for (let at = 0; at < 30; at++) {
      await clock.advance(20_000)
      answer(at)
    }
    expect(await Promise.race([result, 'under way'])).toMatchObject({ code: 'timeout' })
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

  it.each([
    ['after', 40 * MINUTE],
    ['before', 20 * MINUTE],
  ])('keeps what progress during a question allows: a timeout %s maxTimeoutMs', async (_, maxTimeoutMs) => {
    const limits = { timeoutMs: 10 * MINUTE, maxTimeoutMs }
    const { clock, run, answer } = asking(async options => {
      await new Promise<void>(resolve => clock.setTimer(resolve, 9 * MINUTE))
      const answered = options.ask?.(question)
      clock.setTimer(() => options.reportProgress?.({ progress: 1 }), MINUTE)
      await answered
      return never()
    }, limits)
    const result = run()
    await clock.advance(9 * MINUTE)
    await clock.advance(2 * MINUTE)
    answer()
    // 9 of its own minutes are over; the progress gave it 10 more.
    await clock.advance(10 * MINUTE - 1)
    expect(await Promise.race([result, 'under way'])).toBe('under way')
    await clock.advance(1)
    expect(await result).toMatchObject({ code: 'timeout', waited_ms: 2 * MINUTE })
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

  it('has the wait of interceptors and that of its question counted together', async () => {
    const { clock, executor, run, answer } = asking(async ({ ask }) => (await ask?.(question))?.action)
    executor.use(async (_call, next) => {
      await new Promise<void>(resolve => clock.setTimer(resolve, MINUTE))
      return next()
    })
    const result = run()
    await clock.advance(MINUTE)
    await clock.advance(2 * MINUTE)
    answer()
    expect(await result).toMatchObject({ success: true, waited_ms: 3 * MINUTE })
  })

  it('is told that this caller cannot answer prompts by having no way to', async () => {
    const { executor } = asking(({ ask }) => String(ask))
    expect(await executor.execute('tool')).toBe('undefined')
  })
})
