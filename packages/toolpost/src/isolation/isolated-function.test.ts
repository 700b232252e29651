import { setMaxListeners } from 'node:events'
import { getPriority } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type IsolatedFunction, type IsolateOptions, isolate } from './isolated-function.ts'

const opened: IsolatedFunction[] = []

/** Isolates `f` of the given code. */
function isolateCode(code: string, options: Partial<IsolateOptions> = {}): IsolatedFunction {
  const module = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
  const isolated = isolate({ module, export: 'f', name: 'tested', ...options })
  opened.push(isolated)
  return isolated
}

const pids = (isolated: IsolatedFunction) => isolated.children().map(child => child.pid)
const isAlive = (pid: unknown) => {
  try {
    return process.kill(pid as number, 0)
  } catch {
    return false
  }
}

afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(opened.splice(0).map(isolated => isolated.close()))
})

describe('a call of an isolated function', () => {
  it('runs in another process and returns its value', async () => {
    const f = isolateCode('export const f = async args => [args.x, process.pid]')
    const [x, pid] = (await f({ x: 1 })) as [number, number]
    expect(x).toBe(1)
    expect(pid).not.toBe(process.pid)
    expect(pids(f)).toContain(pid)
  })

  it('hands over what JSON cannot', async () => {
    const f = isolateCode('export const f = args => args')
    const cycle: Record<string, unknown> = {
      big: 12n ** 30n,
      nan: Number.NaN,
      none: undefined,
      map: new Map([[1, 2]]),
    }
    cycle.self = cycle
    expect(await f(cycle)).toEqual(cycle)
  })

  it('rejects with the error that was thrown', async () => {
    const f = isolateCode(`export const f = () => {
      throw Object.assign(new RangeError('too far', { cause: new Error('why') }), { code: 'FAR' })
    }`)
    const error = await f({}).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'RangeError',
      message: 'too far',
      code: 'FAR',
      cause: { message: 'why' },
    })
  })

  it('says that a result or an argument cannot be serialized, and goes on', async () => {
    const f = isolateCode('export const f = args => args.plain ? 1 : () => 1')
    await expect(f({})).rejects.toThrow('The result cannot be serialized: ')
    await expect(f({ value: () => 1 })).rejects.toThrow('The arguments of tested cannot be serialized: ')
    expect(await f({ plain: true })).toBe(1)
  })

  it('is given nothing of the environment that could be secret', async () => {
    vi.stubEnv('TOOLPOST_TEST_TOKEN', 'secret')
    vi.stubEnv('NODE_OPTIONS', '--no-warnings')
    const f = isolateCode('export const f = () => process.env')
    const environment = (await f({})) as NodeJS.ProcessEnv
    vi.unstubAllEnvs()
    expect(environment.PATH).toBe(process.env.PATH)
    expect(environment).not.toHaveProperty('TOOLPOST_TEST_TOKEN')
    expect(environment).not.toHaveProperty('NODE_OPTIONS')
  })
})

describe('an isolated function that does not answer', () => {
  const spin = 'export const f = args => { if (args.spin) for (;;); return process.pid }'

  it('[F20] is killed when the call is aborted, and the child that stands by takes the next call', async () => {
    const f = isolateCode(spin)
    const spinning = await f({})
    const call = f({ spin: true }, { signal: AbortSignal.timeout(400) })
    await expect(call).rejects.toMatchObject({ name: 'AbortError', message: 'tested was stopped' })
    const standby = pids(f)
    expect(standby).not.toContain(spinning)
    expect(standby).toContain(await f({}))
  })

  it('prefers onAbort to the signal', async () => {
    const f = isolateCode(spin)
    let abort: (() => void) | undefined
    const options = {
      get signal(): AbortSignal {
        throw new Error('read')
      },
      onAbort: (listener: () => void) => {
        abort = listener
      },
    }
    await f({})
    const call = f({ spin: true }, options)
    await vi.waitUntil(() => abort)
    abort?.()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('starts nothing for a call that was aborted before', async () => {
    const f = isolateCode(spin)
    await expect(f({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
    expect(f.children()).toEqual([])
  })

  it('lets go of the signal when it has answered', async () => {
    const f = isolateCode(spin)
    const { signal } = new AbortController()
    const remove = vi.spyOn(signal, 'removeEventListener')
    await f({}, { signal })
    expect(remove).toHaveBeenCalledOnce()
  })

  it('leaves the event loop and other calls alone', async () => {
    const f = isolateCode(spin)
    const controller = new AbortController()
    const spinning = f({ spin: true }, controller)
    expect(await Promise.all([f({}), f({}), f({})])).toHaveLength(3)
    controller.abort()
    await expect(spinning).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('an isolated function whose process ends', () => {
  const code = `export const f = args => {
    if (args.code) process.exit(args.code)
    if (args.signal) process.kill(process.pid, args.signal)
    if (args.fill) for (const all = []; ; ) all.push(new Array(10_000).fill(1.5))
    return args.signal ? new Promise(() => {}) : 'alive'
  }`

  it('says that it ran out of memory', async () => {
    const f = isolateCode(code, { heapMb: 32 })
    await expect(f({ fill: true })).rejects.toThrow('tested ran out of memory (limit 32 MB)')
    expect(await f({})).toBe('alive')
  })

  it('names the exit code or the signal', async () => {
    const f = isolateCode(code)
    await expect(f({ code: 3 })).rejects.toThrow('tested exited with code 3 before it answered')
    await expect(f({ signal: 'SIGKILL' })).rejects.toThrow('tested was killed by SIGKILL before it answered')
    expect(await f({})).toBe('alive')
  })
})

describe('a module that cannot be used', () => {
  it.each([
    ['a module that is missing', { module: 'no/such/file.mjs' }, 'Cannot find module'],
    ['an export that is missing', { export: 'g' }, "has no function named 'g'"],
  ])('rejects for %s', async (_, options, message) => {
    const f = isolateCode('export const f = 1', options)
    await expect(f({})).rejects.toThrow(/^tested cannot be started: /)
    await expect(f({})).rejects.toThrow(message)
  })

  it('rejects all waiting calls, instead of starting again and again', async () => {
    const f = isolateCode('process.exit(5)', { maxChildren: 1 })
    const outcomes = await Promise.allSettled([f({}), f({}), f({})])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(f.children()).toEqual([])
  })
})

describe('the children of an isolated function', () => {
  const counting =
    'let n = 0; export const f = args => args.wait ? new Promise(() => {}) : [process.pid, n++]'

  it('are not more than allowed; calls beyond that wait, and run in order', async () => {
    const f = isolateCode(counting, { maxChildren: 1 })
    const results = (await Promise.all(Array.from({ length: 20 }, () => f({})))) as [number, number][]
    expect(results.map(([, n]) => n)).toEqual(Array.from({ length: 20 }, (_, n) => n))
    expect(new Set(results.map(([pid]) => pid)).size).toBe(1)
  })

  it('are not touched when a waiting call is aborted', async () => {
    const f = isolateCode(counting, { maxChildren: 1 })
    const [pid] = (await f({})) as [number]
    const working = new AbortController()
    const waiting = new AbortController()
    const first = f({ wait: true }, working)
    const second = f({}, waiting)
    await vi.waitUntil(() => f.children().some(child => child.state === 'busy'))
    waiting.abort()
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    expect(f.children()).toContainEqual({ pid, state: 'busy' })
    const third = f({})
    working.abort()
    await expect(first).rejects.toMatchObject({ name: 'AbortError' })
    expect(await third).not.toContain(pid)
  })

  it('become two after a call, and one again when they were idle for a time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const f = isolateCode(counting, { idleMs: 60_000 })
    const [pid] = (await f({})) as [number]
    expect(pids(f)).toEqual([pid])
    vi.advanceTimersByTime(20)
    await turn()
    expect(f.children()).toHaveLength(2)
    await vi.waitUntil(() => f.children().every(child => child.state === 'idle'), {
      interval: 1,
      timeout: 10_000,
    })
    vi.advanceTimersByTime(60_000)
    expect(f.children()).toHaveLength(1)
    vi.advanceTimersByTime(60_000)
    expect(f.children()).toHaveLength(1)
  })

  it('are not ended by the signals of a terminal or a service manager, which are for the parent', async () => {
    const f = isolateCode(counting)
    const [pid] = (await f({})) as [number]
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal)
    expect(await f({})).toEqual([pid, 1])
  })

  it('are gone when it was closed, with the calls that were under way', async () => {
    const f = isolateCode(counting)
    await f({})
    const call = expect(f({ wait: true })).rejects.toMatchObject({ name: 'AbortError' })
    await vi.waitUntil(() => f.children().some(child => child.state === 'busy'))
    const before = pids(f)
    expect(before.map(isAlive)).not.toContain(false)
    await f.close()
    await call
    expect(before.map(isAlive)).not.toContain(true)
    expect(await f({})).toContain(0)
  })
})

describe('callers of an isolated function', () => {
  const naming = 'export const f = args => args.spin ? new Promise(() => {}) : args.name'
  const asked = (caller: string, signal = new AbortController().signal) => ({ caller, signal })
  const busy = (f: IsolatedFunction) => f.children().filter(child => child.state === 'busy').length

  it('[F55] with endless calls leave room for those of others, up to twice the children', async () => {
    const f = isolateCode(naming, { maxChildren: 2 })
    const endless = new AbortController()
    setMaxListeners(0, endless.signal)
    const attack = Array.from({ length: 20 }, () => f({ spin: true }, asked('a', endless.signal)))
    const ended = Promise.allSettled(attack)
    await vi.waitUntil(() => busy(f) === 2, { timeout: 10_000 })
    expect(await f({ name: 'b' }, asked('b'))).toBe('b')
    const other = [1, 2, 3].map(() => f({ spin: true }, asked('b', endless.signal)))
    const bothEnded = Promise.allSettled(other)
    await vi.waitUntil(() => busy(f) === 3, { timeout: 10_000 })
    expect(await f({ name: 'c' }, asked('c'))).toBe('c')
    expect(f.children().length).toBeLessThanOrEqual(5)
    endless.abort()
    await Promise.all([ended, bothEnded])
  })

  it('[F55] who wait are served in turn, and each in order', async () => {
    const f = isolateCode(naming, { maxChildren: 1 })
    await f({ name: 'first' })
    const served: unknown[] = []
    const ask = (caller: string, name: string) => f({ name }, asked(caller)).then(got => served.push(got))
    const holder = new AbortController()
    const held = f({ spin: true }, asked('a', holder.signal)).catch(() => {})
    const holder2 = new AbortController()
    const held2 = f({ spin: true }, asked('z', holder2.signal)).catch(() => {})
    const calls = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('b', 'b2')]
    await vi.waitUntil(() => busy(f) === 2, { timeout: 10_000 })
    holder.abort()
    await Promise.all([held, ...calls])
    expect(served).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
    holder2.abort()
    await held2
  })

  it('[F55] get the next child before a caller who has one at work', async () => {
    const f = isolateCode(naming, { maxChildren: 4 })
    const endless = new AbortController()
    const spinning = f({ spin: true }, asked('a', endless.signal)).catch(() => {})
    const served: unknown[] = []
    const ask = (caller: string, name: string) => f({ name }, asked(caller)).then(got => served.push(got))
    await Promise.all([ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1')])
    expect(served[0]).toBe('b1')
    endless.abort()
    await spinning
  }, 30_000)

  it('[F55] with a call at work leave the last idle child to others, who need not wait for a new one', async () => {
    const f = isolateCode('export const f = args => args.spin ? new Promise(() => {}) : process.pid')
    await Promise.all([f({}, asked('a')), f({}, asked('b'))])
    await vi.waitUntil(() => f.children().filter(child => child.state === 'idle').length >= 2)
    const before = pids(f)
    const endless = new AbortController()
    const spinning = before.map(() => f({ spin: true }, asked('a', endless.signal)).catch(() => {}))
    expect(before).toContain(await f({}, asked('b')))
    expect(before).toContain(await f({}, asked('b')))
    endless.abort()
    await Promise.all(spinning)
  })

  it.skipIf(process.platform === 'win32')(
    '[F55] have less of the processor after a while',
    async () => {
      const f = isolateCode(naming)
      const endless = new AbortController()
      const call = f({ spin: true }, asked('a', endless.signal)).catch(() => {})
      const isLowered = () => f.children().some(({ pid }) => pid && getPriority(pid) > getPriority())
      await vi.waitUntil(isLowered, { timeout: 10_000 })
      expect(getPriority(pids(f).at(-1))).toBeLessThan(getPriority() + 10)
      endless.abort()
      await call
    },
    30_000,
  )

  it('go on being served after arguments that cannot be serialized', async () => {
    const f = isolateCode(naming, { maxChildren: 1 })
    const calls = [f({ name: () => {} }), f({ name: () => {} }), f({ name: 'fine' })]
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })
})
