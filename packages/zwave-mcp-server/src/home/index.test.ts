import { expect, it } from 'vitest'
import * as home from './index.ts'

it('exports these names and no others', () => {
  expect(Object.keys(home).sort()).toEqual([
    'DEFAULT_DEVICES',
    'VirtualHome',
    'describeDevices',
    'startBroker',
    'startHome',
  ])
})
