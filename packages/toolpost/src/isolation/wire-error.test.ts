import { describe, expect, it } from 'vitest'
import { fromWire, toWire } from './wire-error.ts'

const roundTrip = (thrown: unknown) => fromWire(structuredClone(toWire(thrown)))

describe('an error on its way between processes', () => {
  it('keeps name, message, code and status', () => {
    const error = Object.assign(new TypeError('no'), { code: 'E_NO', status: 503 })
    expect(roundTrip(error)).toMatchObject({ name: 'TypeError', message: 'no', code: 'E_NO', status: 503 })
    expect(roundTrip(error)).toBeInstanceOf(Error)
  })

  it('keeps its cause, but not the cause of the cause', () => {
    const refused = Object.assign(new Error('refused', { cause: new Error('deep') }), {
      code: 'ECONNREFUSED',
    })
    const { cause } = roundTrip(new Error('fetch failed', { cause: refused })) as { cause: Error }
    expect(cause).toMatchObject({ message: 'refused', code: 'ECONNREFUSED' })
    expect(cause.cause).toBeUndefined()
  })

  it('says what was thrown if it was not an error', () => {
    expect(roundTrip('just text').message).toBe('just text')
    expect(roundTrip({ a: 1 }).message).toBe('{ a: 1 }')
    expect(roundTrip(undefined).message).toBe('undefined')
  })
})
