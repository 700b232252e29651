import { describe, expect, it } from 'vitest'
import { brokerAddress, withoutCredentials } from './broker-address.ts'
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

describe('the address of a broker', () => {
  it.each([
    ['broker:1884', { protocol: 'mqtt', host: 'broker', port: 1884 }],
    ['mqtts://broker', { protocol: 'mqtts', host: 'broker' }],
    ['mqtt://[::1]:1883', { protocol: 'mqtt', host: '::1', port: 1883 }],
    ['mqtt://me:p%40ss@host', { protocol: 'mqtt', host: 'host', username: 'me', password: 'p@ss' }],
    ['mqtt://me:100%@host', { protocol: 'mqtt', host: 'host', username: 'me', password: '100%' }],
    [
      'mqtt://5%25%:a b%zz%ff@host',
      { protocol: 'mqtt', host: 'host', username: '5%%', password: 'a b%zz%ff' },
    ],
    ['ws://broker:9001/mqtt?a=1', { protocol: 'ws', host: 'broker', port: 9001, path: '/mqtt?a=1' }],
  ])('is taken apart: %s', (url, address) => {
    expect(brokerAddress(url)).toEqual(address)
  })

  it('is shown without its password', () => {
    expect(withoutCredentials('mqtt://me:hunter2@host:1883')).toBe('mqtt://host:1883')
    expect(withoutCredentials('me:hunter2@host')).toBe('host')
    expect(withoutCredentials('mqtt://me:hunter2/x@y@host:1883')).toBe('mqtt://host:1883')
    expect(withoutCredentials('ws://host:9001/mqtt')).toBe('ws://host:9001/mqtt')
  })
})
