import { expect, it } from 'vitest'
import { GatewayState } from './gateway-state.ts'

it('knows nothing at first', () => {
  const { name, online, version, driverReady, reachable } = new GatewayState()
  expect({ name, online, version, driverReady, reachable }).toEqual({
    name: null,
    online: null,
    version: null,
    driverReady: null,
    reachable: [],
  })
})

it('follows what the gateway reports about itself', () => {
  const state = new GatewayState()
  state.apply('G', 'version', '{"value":"11.3.0"}')
  state.apply('G', 'status', '{"value":true,"time":1}')
  state.applyDriver('true')
  expect(state).toMatchObject({
    name: 'G',
    online: true,
    version: '11.3.0',
    driverReady: true,
    reachable: ['G'],
  })
  state.apply('G', 'status', '{"value":false}')
  state.applyDriver('false')
  expect(state).toMatchObject({ name: 'G', online: false, driverReady: false, reachable: [] })
})

it('accepts raw values, and treats nonsense as offline', () => {
  const state = new GatewayState()
  state.apply('G', 'status', 'true')
  expect(state.online).toBe(true)
  state.apply('G', 'status', 'garbage')
  expect(state.online).toBe(false)
})

it('asks a configured gateway without having heard of it, until it says that it is offline', () => {
  const state = new GatewayState('G')
  expect(state).toMatchObject({ name: 'G', online: null, reachable: ['G'] })
  state.apply('G', 'status', '{"value":false}')
  expect(state.reachable).toEqual([])
})
