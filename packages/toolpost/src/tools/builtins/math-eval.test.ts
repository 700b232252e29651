import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type IsolatedFunction, isolate } from '../../isolation/isolated-function.ts'
import { compiledFile } from '../../runtime/package-root.ts'
import { mathEval } from './math-eval.ts'

describe('math_eval', () => {
  const signal = new AbortController().signal

  it('[B12] returns the result of an expression', async () => {
    expect(await mathEval({ expression: '2+2' }, { signal })).toEqual({ result: 4 })
  })

  it('[B12] rejects a wrong expression with a message that explains it', async () => {
    const message = 'Undefined symbol foo'
    await expect(mathEval({ expression: '2 * foo' }, { signal })).rejects.toThrow(message)
  })

  it('[F23] is the same after config(...)', async () => {
    const config = mathEval({ expression: 'config({number: "BigNumber"})' }, { signal })
    await expect(config).rejects.toThrow('config is not allowed in an expression')
    expect(await mathEval({ expression: '1/3' }, { signal })).toEqual({ result: 1 / 3 })
  })
})

describe('an expression that would not end', () => {
  let calculate: IsolatedFunction

  beforeAll(async () => {
    // The function of math_eval, which says too which process has answered.
    const child = compiledFile('tools/builtins/math-eval-child.js')
    const code = `import { evaluate } from '${child}'
      export const f = args => ({ ...evaluate(args), pid: process.pid })`
    const module = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
    calculate = isolate({ name: 'math_eval', module, export: 'f' })
    await calculate({ expression: '1/3' })
  })

  afterAll(() => calculate.close())

  const idle = () => calculate.children().filter(child => child.state === 'idle')

  beforeEach(() => vi.waitUntil(() => idle().length >= 2, { timeout: 10_000, interval: 5 }))

  /** Runs the expression in one of two children, and then 1/3, for which only the other is ready. */
  async function expectEnd(expression: string, message: RegExp, signal?: AbortSignal): Promise<void> {
    const ready = idle().map(child => child.pid)
    await expect(calculate({ expression }, signal && { signal })).rejects.toThrow(message)
    const { result, pid } = (await calculate({ expression: '1/3' })) as { result: number; pid: number }
    expect(result).toBe(1 / 3)
    expect(ready).toContain(pid)
  }

  it.each([
    'fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2); fib(40)',
    'inv(random([500, 500]))',
    'eigs(random([120, 120]))',
    'isPrime(bignumber("1000000000000000000000000000057"))',
    'rationalize("(x+1)^60")',
    'map(1:3e6, f(x) = x^2)',
    'kron(ones(200, 200), ones(200, 200))',
    'fft(ones(4e6))',
  ])('[F21] is ended: %s', async expression => {
    const message = /^math_eval was stopped|^math_eval ran out of memory|is not allowed/
    await expectEnd(expression, message, AbortSignal.timeout(400))
  })

  it.each(['ones(2e4, 2e4)', 'zeros(1e8)', '1:1e9', 'range(0, 1e8)'])(
    '[F22] runs out of memory: %s',
    async expression => {
      await expectEnd(expression, /^math_eval ran out of memory \(limit 64 MB\)$/)
    },
  )

  it('does not hold up other calls', async () => {
    const controller = new AbortController()
    const spinning = calculate(
      { expression: 'isPrime(bignumber("1000000000000000000000000000057"))' },
      controller,
    )
    for (let n = 1; n < 20; n++) {
      expect(await calculate({ expression: `${n} * 2` })).toMatchObject({ result: n * 2 })
    }
    controller.abort()
    await expect(spinning).rejects.toMatchObject({ name: 'AbortError' })
  })
})
