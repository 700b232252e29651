import { describe, expect, it } from 'vitest'
import { explainFailure } from './explain-failure.ts'

describe('a failure to connect', () => {
  const withCode = (code: unknown, message = 'raw') => Object.assign(new Error(message), { code })
  it.each([
    [withCode('ECONNREFUSED'), 'connection refused (ECONNREFUSED)'],
    [withCode('ENOTFOUND'), 'unknown host (ENOTFOUND)'],
    [
      Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }),
      'connection refused (ECONNREFUSED)',
    ],
    [withCode(4), 'wrong user name or password'],
    [withCode(5), 'not authorized: check user name and password'],
    [withCode(99, 'Something new'), 'Something new'],
    [withCode('CERT_HAS_EXPIRED', 'certificate has expired'), 'certificate has expired'],
    [new Error('connack timeout'), 'no answer'],
    [new Error('Keepalive timeout'), 'no answer'],
    ['thrown', 'thrown'],
  ])('is explained: %s', (error, words) => {
    expect(explainFailure(error)).toBe(words)
  })
})
