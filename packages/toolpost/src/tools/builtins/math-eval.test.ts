import { afterAll, describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import { closeIsolated } from '../isolated.ts'
import { localTools } from '../local-tools.ts'
import { ToolManager } from '../tool-manager.ts'

const executor = new ToolExecutor(new ToolManager({ tools: localTools() }))
/** A child may take long to start on a busy machine. */
const calculate = (expression: string, timeoutMs = 15_000) =>
  executor.run({ name: 'math_eval', args: { expression } }, { timeoutMs })

afterAll(closeIsolated)

describe('math_eval', () => {
  it.each([
    'fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2); fib(40)',
    'inv(random([500, 500]))',
    'eigs(random([120, 120]))',
    'isPrime(bignumber("1000000000000000000000000000057"))',
    'map(1:3e6, f(x) = x^2)',
    'kron(ones(200, 200), ones(200, 200))',
    'fft(ones(4e6))',
  ])('[F21] ends at its deadline, and the next call works: %s', async expression => {
    await calculate('1')
    const result = await calculate(expression, 400)
    expect(!result.success && result.error).toMatch(/timed out after 400 ms|ran out of memory/)
    expect(await calculate('1/3')).toMatchObject({ result: { result: 1 / 3 } })
  })

  it.each(['ones(2e4, 2e4)', 'zeros(1e8)', '1:1e9', 'range(0, 1e8)'])(
    '[F22] runs out of memory, and the next call works: %s',
    async expression => {
      expect(await calculate(expression)).toMatchObject({
        error: 'math_eval ran out of memory (limit 64 MB)',
      })
      expect(await calculate('1/3')).toMatchObject({ result: { result: 1 / 3 } })
    },
  )
})
