import { expect, it } from 'vitest'
import { brokerAddress, withoutCredentials } from '../src/config.ts'

it.each([
  ['broker.local:1884', { protocol: 'mqtt', host: 'broker.local', port: 1884 }],
  ['MQTTS://broker:8884/', { protocol: 'mqtts', host: 'broker', port: 8884 }],
  ['tcp://[::1]:1883', { protocol: 'mqtt', host: '::1', port: 1883 }],
  ['mqtt://m%3Ae:p%40ss@h', { protocol: 'mqtt', host: 'h', username: 'm:e', password: 'p@ss' }],
  ['ws://broker:9001/mqtt?a=1', { protocol: 'ws', host: 'broker', port: 9001, path: '/mqtt?a=1' }],
])('the broker address %s is taken apart', (text, address) => {
  expect(brokerAddress(text)).toEqual(address)
})

it.each([
  ['http://me:hunter2@host', 'http://host'],
  ['mqtt://me:hunter2@', 'mqtt://…'],
  ['u:a/b@h:1', '…'],
])('the broker address %s is refused, showing no more than %j', (text, shown) => {
  expect(() => brokerAddress(text)).toThrow(
    `The MQTT broker URL must look like mqtt://host:1883 or mqtts://host:8883, not "${shown}".`,
  )
})

it('an address is shown without password and query', () => {
  expect(withoutCredentials('ws://me:hunter2@host:9001/mqtt?token=1')).toBe('ws://host:9001/mqtt')
})
