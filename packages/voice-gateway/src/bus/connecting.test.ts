import { describe, expect, it } from 'vitest'
import { explainFailure } from './explain-failure.ts'
import { ReconnectDelays } from './reconnect-delays.ts'

describe('the pauses between attempts', () => {
  it('grow from a quarter of a second to ten seconds, and begin anew', () => {
    const delays = new ReconnectDelays(() => 1)
    const first = Array.from({ length: 8 }, () => delays.next())
    expect(first).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    delays.reset()
    expect(delays.next()).toBe(250)
  })

  it('differ by chance', () => {
    expect(new ReconnectDelays(() => 0).next()).toBe(125)
  })
})

describe('a failure to connect', () => {
  const withCode = (code: unknown, message = 'raw') => Object.assign(new Error(message), { code })
  it.each([
    [withCode('ECONNREFUSED'), 'nothing listens there (ECONNREFUSED)'],
    [withCode('ENOTFOUND'), 'its name is not known (ENOTFOUND)'],
    [
      Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }),
      'nothing listens there (ECONNREFUSED)',
    ],
    [withCode(4), 'it does not accept the user name or password'],
    [withCode(5), 'it does not let us in: check user name and password'],
    [withCode(99, 'Something new'), 'Something new'],
    [withCode('CERT_HAS_EXPIRED', 'certificate has expired'), 'certificate has expired'],
    [new Error('connack timeout'), 'it does not answer'],
    [new Error('Keepalive timeout'), 'it does not answer'],
    ['thrown', 'thrown'],
  ])('is explained: %s', (error, words) => {
    expect(explainFailure(error)).toBe(words)
  })
})
