import { execFile } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unharmed } from '../../test/unharmed.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { compiledFile } from '../runtime/package-root.ts'
import { fakeClock, recordingLogger } from '../testing/index.ts'
import type { InvokeOptions, Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'
import type { RunOptions } from './options.ts'

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
const untouchable = () =>
  new Proxy(() => {}, {
    get: boom,
    has: boom,
    apply: boom,
    ownKeys: boom,
    getPrototypeOf: boom,
    getOwnPropertyDescriptor: boom,
  })
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
    [
      'throw what cannot be shown',
      signal => signal.addEventListener('abort', () => Promise.reject(unprintable())),
    ],
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
  const thenables: [string, () => unknown, object][] = [
    ['settles at once', () => thenable(done => done('now')), { result: 'now' }],
    [
      'settles more than once',
      () =>
        thenable((done, fail) => {
          done('first')
          done('second')
          fail(new Error('third'))
        }),
      { result: 'first' },
    ],
    [
      'throws after it settled',
      () =>
        thenable(done => {
          done('fine')
          boom()
        }),
      { result: 'fine' },
    ],
    ['throws at once', () => thenable(boom), { code: 'tool_error', error: 'boom' }],
    [
      'throws when then is read',
      () => Object.defineProperty({}, 'then', { get: boom }),
      { code: 'tool_error', error: 'boom' },
    ],
    [
      'is a promise with a then of its own',
      () =>
        Object.defineProperty(Promise.resolve('own'), 'then', { value: (done: Settle) => done('forged') }),
      { result: 'own' },
    ],
    ['is a thenable in a thenable', () => thenable(done => done(thenable(d => d('in')))), { result: 'in' }],
    [
      'is a promise in thenables',
      () => thenable(done => done(thenable(d => d(Promise.resolve('in'))))),
      { result: 'in' },
    ],
    ['is a proxy', untouchable, { code: 'tool_error' }],
  ]

  it.each(thenables)('[F52] has one answer, and nothing is kept, if it %s', async (_how, make, expected) => {
    const { run, clock, executor } = setup(make)
    expect(await run()).toMatchObject(expected)
    expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
    await clock.advance(5_000)
    expect(clock.pending).toBe(0)
    expect(executor.metrics.snapshot().calls).toBe(1)
  })

  it('[F52] a process ends at once after a thenable that settles at once, whatever its deadline', async () => {
    const program = `
      const { ToolExecutor, ToolManager } = await import(${JSON.stringify(compiledFile('index.js').href)})
      const tools = new ToolManager()
      const invoke = () => ({ then: done => done('now') })
      tools.addCustomTool({ name: 't', description: 'd', schema: { type: 'object' }, invoke })
      const executor = new ToolExecutor(tools, { timeoutMs: 3_600_000 })
      console.log((await executor.run({ name: 't' })).result)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 15_000,
    })
    expect(stdout).toBe('now\n')
  })

  it.each([
    ['a proxy', untouchable],
    ['an object that cannot be shown', unprintable],
    ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: boom })],
    ['a symbol', () => Symbol('s')],
    ['an object without a prototype', () => Object.create(null)],
  ])('[F52] is an error in words if it throws %s, at once or later', async (_what, make) => {
    for (const invoke of [
      () => {
        throw make()
      },
      async () => {
        throw make()
      },
    ]) {
      const { run, executor } = setup(invoke)
      const result = await run()
      expect(result).toMatchObject({ success: false, code: 'tool_error', error: expect.stringMatching(/\S/) })
      expect(executor.text(result)).toMatch(/^Error: \S/)
    }
  })

  it('[F52] has a text even if its toJSON throws what cannot be shown', async () => {
    for (const thrown of [untouchable(), unprintable(), Symbol('s'), null]) {
      const toJSON = () => {
        throw thrown
      }
      expect(await setup(() => ({ toJSON })).executor.execute('subject')).toMatch(/^"\[unreadable/)
    }
  })
})

describe('hostile tools in great numbers', () => {
  const kinds: [string, Tool['invoke']][] = [
    ['thenables that settle at once', () => thenable(done => done('now'))],
    ['thenables that throw', () => thenable(boom)],
    ['proxies', untouchable],
    ['thrown proxies', () => Promise.reject(untouchable())],
    ['results whose toJSON throws', () => ({ toJSON: boom })],
    [
      'listeners that throw',
      (_args, options) => {
        options?.signal?.addEventListener('abort', boom)
        return new Promise(() => {})
      },
    ],
  ]

  it.each(kinds)('[F52] are not felt by others, and nothing of them is kept: %s', async (_what, invoke) => {
    const tools = new ToolManager()
    tools.addCustomTool({ name: 'subject', description: 'd', schema: { type: 'object' }, invoke })
    const executor = new ToolExecutor(tools, { timeoutMs: 3_600_000 })
    const attack = async () => {
      for (let turns = 0; turns < 60; turns++) {
        const stop = new AbortController()
        setMaxListeners(0, stop.signal)
        // Each with 10 kB that its deadline, in an hour, would keep; in é, which are searched for secrets fastest.
        const calls = Array.from({ length: 100 }, () => {
          const args = { text: Buffer.alloc(10_000, 0xe9).toString('latin1') }
          return executor.run({ name: 'subject', args }, { signal: stop.signal })
        })
        await turn()
        stop.abort()
        for (const result of await Promise.all(calls)) executor.text(result)
      }
    }
    await unharmed(attack, { executor })
    expect(executor.metrics.snapshot().inFlight).toBe(0)
  })
})

describe('a call that is not one', () => {
  it.each([[null], [undefined], [5], ['text'], [{}], [untouchable()], [{ name: untouchable() }]])(
    '[F52] is answered, counted and logged: case %#',
    async call => {
      const { executor, logger } = setup(() => 'ran')
      expect(await executor.run(call as unknown as ToolCall)).toMatchObject({ code: 'unknown_tool' })
      expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
      expect(logger.at('warn')).toHaveLength(1)
    },
  )

  it('[F52] is read once: what its getters say later does not count', async () => {
    let reads = 0
    const { executor } = setup(args => args)
    const call = {
      get id() {
        return `id_${++reads}`
      },
      get name() {
        return ++reads < 5 ? 'subject' : 'other'
      },
      get args() {
        return { n: ++reads }
      },
    }
    const seen: unknown[] = []
    executor.observe(event => seen.push(event.call.args))
    expect(await executor.run(call)).toMatchObject({ tool_call_id: 'id_1', result: { n: 3 } })
    expect(seen).toEqual([{ n: 3 }, { n: 3 }])
    expect(reads).toBe(3)
  })

  it('[F52] gets an answer that says so if its arguments cannot be read', async () => {
    const call = {
      name: 'subject',
      get args() {
        return boom()
      },
    }
    expect(await setup(() => 'ran').executor.run(call)).toMatchObject({ code: 'invalid_arguments' })
  })

  it('[F52] gets an answer if its options or the limits of its tool cannot be read', async () => {
    const { executor } = setup(() => 'ran')
    const options = {
      get timeoutMs() {
        return boom()
      },
    }
    expect(await executor.run({ name: 'subject' }, options)).toMatchObject({ success: false })
    const odd = setup(() => 'ran', Object.defineProperty({}, 'timeoutMs', { get: boom, enumerable: false }))
    Object.defineProperty(odd.executor.tools.getTools()[0], 'timeoutMs', { get: boom })
    expect(await odd.run()).toMatchObject({ success: false, code: 'tool_error' })
    const signal = { aborted: false } as AbortSignal
    const slow = setup(() => new Promise(() => {}))
    expect(await slow.executor.run({ name: 'subject' }, { signal })).toMatchObject({ success: false })
  })
})

describe('anything at all', () => {
  /** Makers, because fast-check looks at its values, and these cannot bear it. */
  const value = fc.oneof(
    fc.anything().map(anything => () => anything),
    fc.constantFrom<() => unknown>(
      untouchable,
      unprintable,
      () => Symbol('s'),
      () => 1n,
      () => boom,
    ),
  )
  const settling = fc.array(fc.record({ fulfils: fc.boolean(), value }), { minLength: 1, maxLength: 3 })
  const behaviour = fc.oneof(
    fc.tuple(fc.constantFrom('returns', 'throws', 'resolves', 'rejects'), value).map(([kind, make]) => () => {
      if (kind === 'returns') return make()
      if (kind === 'throws') throw make()
      return kind === 'resolves' ? Promise.resolve(make()) : Promise.reject(make())
    }),
    fc.tuple(settling, fc.boolean()).map(
      ([calls, throws]) =>
        () =>
          thenable((done, fail) => {
            for (const call of calls) (call.fulfils ? done : fail)(call.value())
            if (throws) boom()
          }),
    ),
  )

  it('[F52] has exactly one answer, with a text, and leaves nothing behind', async () => {
    const call = fc.record({ id: value, args: value, caller: value, timeoutMs: value, repair: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(behaviour, call, async (invoke, { id, args, caller, timeoutMs, repair }) => {
        const { executor, clock } = setup(invoke)
        const options = { caller: caller(), timeoutMs: timeoutMs(), repair } as RunOptions
        const asked = { id: id(), name: 'subject', args: args() } as ToolCall
        const result = await executor.run(asked, options)
        expect(typeof result.success).toBe('boolean')
        expect(typeof executor.text(result)).toBe('string')
        expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
        await clock.advance(2 ** 32)
        expect(clock.pending).toBe(0)
      }),
      { numRuns: 300 },
    )
  })
})
