import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock, recordingLogger } from '../testing/index.ts'
import type { InvokeOptions, Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { ToolExecutor } from './executor.ts'

const uncaught: unknown[] = []
const note = (error: unknown) => void uncaught.push(error)

beforeEach(() => {
  uncaught.length = 0
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
})

afterEach(async () => {
  await new Promise(resolve => setImmediate(resolve))
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  expect(uncaught).toEqual([])
})

function setup(invoke: Tool['invoke'], extra: Partial<Tool> = {}) {
  const logger = recordingLogger()
  const clock = fakeClock()
  const tools = new ToolManager({ logger })
  tools.addCustomTool({ name: 'subject', description: 'd', schema: { type: 'object' }, invoke, ...extra })
  const executor = new ToolExecutor(tools, { logger, clock, timeoutMs: 1_000 })
  return { logger, clock, executor, run: () => executor.run({ name: 'subject' }) }
}

const boom = (): never => {
  throw new Error('boom')
}
/** Throws whatever is done to it. */
const untouchable = () => {
  const traps = ['get', 'has', 'apply', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor']
  return new Proxy(() => {}, Object.fromEntries(traps.map(trap => [trap, boom])))
}
const unprintable = () => ({
  toString: boom,
  get message() {
    return boom()
  },
})

type Settle = (value: unknown) => void

const thenable = (then: (done: Settle, fail: Settle) => void): object =>
  Object.defineProperty({}, 'then', { value: then })

/** A promise, and what resolves it. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { open, opened }
}

describe('listeners of a tool that fail', () => {
  const listeners: [string, (signal: AbortSignal) => void][] = [
    ['throw', signal => signal.addEventListener('abort', boom)],
    ['reject', signal => signal.addEventListener('abort', async () => boom())],
    ['are objects', signal => signal.addEventListener('abort', { handleEvent: boom })],
    ['are set as onabort', signal => void Object.assign(signal, { onabort: boom })],
    ['capture', signal => signal.addEventListener('abort', boom, { capture: true, once: true })],
  ]

  it.each(listeners)(
    '[F52] do not end the process if they %s, and the others are told',
    async (_how, listen) => {
      const heard: unknown[] = []
      const invoked = gate()
      const { run, clock, logger } = setup((_args, options) => {
        const { signal } = options as InvokeOptions
        listen(signal)
        signal.addEventListener('abort', event => heard.push(event.target === signal, signal.aborted))
        invoked.open()
        return new Promise(() => {})
      })
      const running = run()
      await invoked.opened
      await clock.advance(1_000)
      expect(await running).toMatchObject({ code: 'timeout' })
      expect(heard).toEqual([true, true])
      expect(logger.at('warn').map(({ message }) => message)).toEqual(["The tool's abort listener failed"])
    },
  )

  it('[F52] onAbort, onProgress and observers may throw and reject', async () => {
    const { executor, logger } = setup((_args, options) => {
      options?.onAbort?.(boom)
      options?.onAbort?.(async () => boom())
      options?.reportProgress?.({ progress: 1 })
      controller.abort()
      return new Promise(() => {})
    })
    const controller = new AbortController()
    executor.observe(boom)
    executor.observe(async () => boom())
    executor.observe(untouchable())
    const options = { signal: controller.signal, onProgress: async () => boom() }
    expect(await executor.run({ name: 'subject' }, options)).toMatchObject({ code: 'cancelled' })
    expect(logger.at('warn')).toHaveLength(3)
  })
})

describe('what a tool returns', () => {
  const settling = (...steps: ('done' | 'fail' | 'throw')[]) =>
    thenable((done, fail) => {
      for (const [at, step] of steps.entries())
        step === 'throw' ? boom() : step === 'done' ? done(at) : fail(new Error(String(at)))
    })
  const forged = { value: (done: Settle) => done('forged') }
  const failed = { code: 'tool_error', error: 'boom' }
  const thenables: [string, () => unknown, object][] = [
    ['settles at once', () => settling('done'), { result: 0 }],
    ['settles more than once', () => settling('done', 'done', 'fail'), { result: 0 }],
    ['throws after it settled', () => settling('done', 'throw'), { result: 0 }],
    ['throws at once', () => thenable(boom), failed],
    ['throws when then is read', () => Object.defineProperty({}, 'then', { get: boom }), failed],
    ['has a then of its own', () => Object.defineProperty(Promise.resolve(1), 'then', forged), { result: 1 }],
    ['is a promise in a thenable', () => thenable(done => done(Promise.resolve('in'))), { result: 'in' }],
    ['is a proxy', untouchable, { code: 'tool_error' }],
    ['has no prototype to read', () => new Proxy({}, { getPrototypeOf: boom }), { code: 'tool_error' }],
    ['is an output without content', () => new ToolOutput(1, null as never), { code: 'tool_error' }],
  ]

  it.each(thenables)('[F52] has one answer, and nothing is kept, if it %s', async (_how, make, expected) => {
    const { run, clock, executor } = setup(make)
    expect(await run()).toMatchObject(expected)
    expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
    await clock.advance(5_000)
    expect(clock.pending).toBe(0)
    expect(executor.metrics.snapshot().calls).toBe(1)
  })

  it.each([
    ['a proxy', untouchable],
    ['an object that cannot be shown', unprintable],
    ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: boom })],
    ['a symbol', () => Symbol('s')],
    ['an object without a prototype', () => Object.create(null)],
  ])('[F52] is an error in words if it throws %s, at once or later', async (_what, make) => {
    const fail = () => {
      throw make()
    }
    for (const invoke of [fail, async () => fail()]) {
      const { run, executor } = setup(invoke)
      const result = await run()
      expect(result).toMatchObject({ success: false, code: 'tool_error', error: expect.stringMatching(/\S/) })
      expect(executor.text(result)).toMatch(/^Error: \S/)
    }
  })
})

it('[F52] a call whose arguments cannot be read gets an answer that says so', async () => {
  const { executor } = setup(() => 'ran')
  const call = Object.defineProperty({ name: 'subject' }, 'args', { get: boom })
  expect(await executor.run(call)).toMatchObject({ error: 'The call cannot be read: boom' })
  expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
})
