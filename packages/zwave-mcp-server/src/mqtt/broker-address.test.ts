import { expect, it } from 'vitest'
import { brokerAddress } from './broker-address.ts'

it.each([
  ['mqtt://broker', { protocol: 'mqtt', host: 'broker' }],
  ['mqtts://broker:8884', { protocol: 'mqtts', host: 'broker', port: 8884 }],
  ['mqtt://[::1]:1883', { protocol: 'mqtt', host: '::1', port: 1883 }],
  [
    'mqtt://me:p%40ss:word@127.0.0.1:1883',
    { protocol: 'mqtt', host: '127.0.0.1', port: 1883, username: 'me', password: 'p@ss:word' },
  ],
  ['ws://broker:9001/mqtt?a=1', { protocol: 'ws', host: 'broker', port: 9001, path: '/mqtt?a=1' }],
  ['wss://[::1]/', { protocol: 'wss', host: '[::1]', path: '/' }],
])('takes %s apart', (url, address) => {
  expect(brokerAddress(url)).toEqual(address)
})
