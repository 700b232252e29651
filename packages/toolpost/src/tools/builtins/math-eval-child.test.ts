import { describe, expect, it } from 'vitest'
import { evaluate } from './math-eval-child.ts'

const calculate = (expression: string) => evaluate({ expression }).result

describe('the value of an expression', () => {
  it.each<[string, unknown]>([
    ['2+2', 4],
    ['1/3', 1 / 3],
    ['12 % of 85', 10.2],
    ['"12% of 85"', '12% of 85'],
    ['[1, 2; 3, 4] * 2', [[2, 4], [6, 8]]], // biome-ignore format: one row
    ['sqrt(-4)', '2i'],
    ['2 inch to cm', '5.08 cm'],
    ['bignumber("1e500")', '1e+500'],
    ['bigint("123456789012345678901234567890")', '123456789012345678901234567890'],
    ['f(x) = x^2; f(4)', 16],
    ['a=1\nb=2\na+b', [1, 2, 3]],
  ])('%s is %j', (expression, value) => {
    expect(calculate(expression)).toEqual(value)
  })
})

describe('[F24] a result that is not a number', () => {
  it.each([
    ['0/0', 'The result of 0/0 is not a number'],
    ['10^400', 'The result of 10^400 is infinite or too large'],
    ['unit(1/0, "m")', 'The result of unit(1/0, "m") is infinite or too large'],
    ['[1, 0/0]', 'The result of [1, 0/0] contains a value that is not a number'],
    ['f(x) = x', 'The result of f(x) = x is a function, not a value: call it'],
    ['a = 1;', 'The result of a = 1; has no value'],
    ['ones(400, 400)', 'The result of ones(400, 400) is larger than 100000 values'],
    ['a = {}; a.b = a; a', 'The result of a = {}; a.b = a; a is nested too deeply'],
  ])('%s', (expression, message) => {
    expect(() => calculate(expression)).toThrow(new Error(message))
  })
})

describe('[F25] what an expression may not do', () => {
  it.each(['import', 'config', 'createUnit', 'evaluate', 'parse', 'simplify', 'rationalize'])(
    '%s is refused, also by another name and inside other functions',
    name => {
      const forms = [`${name}("1")`, `g = ${name}; g("1")`, `{a: ${name}}.a("1")`, `map([1], ${name})`]
      for (const form of forms)
        expect(() => calculate(form), form).toThrow(`${name} is not allowed in an expression`)
    },
  )

  it.each([
    ...['"a".constructor', 'f(x) = x; f.constructor', '[1].constructor', '{}.__proto__', '{}["constructor"]'],
    ...['cos.constructor("return process")', 'i.re = 5', 'speedOfLight.value = 3'],
  ])('%s has no access', expression => {
    expect(() => calculate(expression)).toThrow(/^No access to (property|method)/)
  })
})

describe('[F23] an expression leaves nothing behind', () => {
  it.each([
    ['config({number: "BigNumber"})', '1/3', 1 / 3],
    ['createUnit("foot", "1 m")', '1 foot to inch', '12 inch'],
    ['pi = 3; i = 4', 'pi', Math.PI],
    ['sqrt(x) = 7; sqrt(4)', 'sqrt(4)', 2],
  ])('%s', (expression, after, value) => {
    try {
      calculate(expression)
    } catch {
      // Some are refused; what counts is what comes after.
    }
    expect(calculate(after)).toBe(value)
  })
})
