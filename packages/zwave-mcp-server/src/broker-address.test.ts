import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokerAddress, withoutCredentials } from './broker-address.ts'

const SCHEMES = ['mqtt', 'mqtts', 'tcp', 'ssl', 'tls', 'ws', 'wss']
const anyText = fc.string({ unit: 'grapheme', minLength: 1 })
const isPlain = (text: string) => !/%[\da-f]{2}/i.test(text)

describe('a broker address', () => {
  it.each([
    ['broker', { protocol: 'mqtt', host: 'broker' }],
    ['broker.local:1884', { protocol: 'mqtt', host: 'broker.local', port: 1884 }],
    [' mqtt://broker ', { protocol: 'mqtt', host: 'broker' }],
    ['MQTTS://broker:8884/', { protocol: 'mqtts', host: 'broker', port: 8884 }],
    ['tcp://broker', { protocol: 'mqtt', host: 'broker' }],
    ['tls://broker', { protocol: 'mqtts', host: 'broker' }],
    ['mqtt://[::1]:1883', { protocol: 'mqtt', host: '::1', port: 1883 }],
    ['me@broker', { protocol: 'mqtt', host: 'broker', username: 'me' }],
    ['me:pw@broker:1', { protocol: 'mqtt', host: 'broker', port: 1, username: 'me', password: 'pw' }],
    ['mqtt://u:50%off@h', { protocol: 'mqtt', host: 'h', username: 'u', password: '50%off' }],
    ['mqtt://u:%E0%zz%40@h', { protocol: 'mqtt', host: 'h', username: 'u', password: '%E0%zz@' }],
    [
      'mqtt://u:a/b?c#d@e:f@h:1',
      { protocol: 'mqtt', host: 'h', port: 1, username: 'u', password: 'a/b?c#d@e:f' },
    ],
    ['mqtt://m%3Ae:p%40ss@h', { protocol: 'mqtt', host: 'h', username: 'm:e', password: 'p@ss' }],
    ['ws://broker:9001/mqtt?a=1', { protocol: 'ws', host: 'broker', port: 9001, path: '/mqtt?a=1' }],
    ['wss://u:p@[::1]', { protocol: 'wss', host: '[::1]', path: '/', username: 'u', password: 'p' }],
  ])('%s is taken apart', (text, address) => {
    expect(brokerAddress(text)).toEqual(address)
  })

  it.each([
    ['http://me:hunter2@host', 'http://host'],
    ['mqtt://', 'mqtt://'],
    ['mqtt://me:hunter2@', 'mqtt://'],
    ['mqtt://me:hunter2', 'mqtt://me…'],
    ['host:99999', 'host:99999'],
    ['host:0', 'host:0'],
    ['two words', 'two…'],
    ['', ''],
  ])('%s is refused, showing no more than %j', (text, shown) => {
    expect(() => brokerAddress(text)).toThrow(
      `The MQTT broker URL must look like mqtt://host:1883 or mqtts://host:8883, not "${shown}".`,
    )
  })

  it('returns any user and password, escaped or not', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SCHEMES), anyText, anyText, (scheme, username, password) => {
        const escaped = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
        expect(brokerAddress(`${scheme}://${escaped}@host:1883`)).toMatchObject({ username, password })
      }),
    )
    fc.assert(
      fc.property(anyText.filter(isPlain), anyText.filter(isPlain), (name, password) => {
        const username = `u${name.replaceAll(':', '')}`
        expect(brokerAddress(`mqtt://${username}:${password}@host`)).toMatchObject({ username, password })
      }),
    )
  })

  it('never shows a password, whatever it contains', () => {
    const raw = fc.string({ unit: 'binary', minLength: 4 })
    fc.assert(
      fc.property(fc.constantFrom(...SCHEMES, 'http', 'x-y'), raw, raw, (scheme, username, password) => {
        expect(withoutCredentials(`${scheme}://${username}:${password}@host:1/p?q`)).toBe(
          `${scheme}://host:1/p`,
        )
      }),
    )
  })

  it('never shows what follows the first colon when the host is missing or broken', () => {
    const secret = fc.stringMatching(/^[a-z!§$%&/()=?#~+*-]{3,20}$/).map(text => `Z${text}`)
    fc.assert(
      fc.property(secret, fc.constantFrom('', '@', '@:', '@ host'), (password, end) => {
        expect(withoutCredentials(`mqtt://user:${password}${end}`)).not.toContain(password)
        expect(withoutCredentials(`user:${password}${end}`)).not.toContain(password)
      }),
    )
  })

  it.each([
    ['mqtt://me:hunter2@host:1883', 'mqtt://host:1883'],
    ['me:hunter2@host', 'host'],
    ['mqtt://me:hunter2/x@y@host:1883', 'mqtt://host:1883'],
    ['ws://host:9001/mqtt?token=1', 'ws://host:9001/mqtt'],
    ['mqtt://[::1]:1883', 'mqtt://[::1]:1883'],
  ])('%s is shown as %s', (text, shown) => {
    expect(withoutCredentials(text)).toBe(shown)
  })
})
