import { describe, expect, it } from 'vitest'
import { tokenHeaders, tokenIn } from './token.ts'

describe('the token in the address', () => {
  it('is read from the fragment', () => {
    expect(tokenIn('#token=abc%20def')).toBe('abc def')
    expect(tokenIn('#/token=abc')).toBe('abc')
  })

  it('is not mistaken for a route', () => {
    expect(tokenIn('#/tools/token=abc')).toBeUndefined()
    expect(tokenIn('#token=')).toBeUndefined()
    expect(tokenIn('')).toBeUndefined()
  })

  it('is used as is if it is not well encoded', () => {
    expect(tokenIn('#token=100%')).toBe('100%')
  })

  it('is not sent if a header cannot carry it, which would look like a gateway that is gone', () => {
    expect(tokenHeaders('abc')).toEqual({ authorization: 'Bearer abc' })
    expect(['a\nb', 'ключ', 'a\0'].map(token => tokenHeaders(token))).toEqual([{}, {}, {}])
  })
})
