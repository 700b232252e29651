import { describe, expect, it } from 'vitest'
import { fakeHome } from '../../test/support/fake-home.ts'
import type { DeviceDescription } from '../home/virtual-device.ts'

describe('control_lock', () => {
  const locks: DeviceDescription[] = [
    { name: 'Back Door Lock', values: [{ type: 'lock', value: true }] },
    { name: 'Lamp', values: [{ type: 'switch' }] },
  ]

  it.each([
    ['back door lock', 'unlock', '0', 'Back Door Lock is unlocked.', false],
    ['the back door', 'lock', '255', 'Back Door Lock is locked.', true],
  ])('%s: %s', async (deviceName, action, sent, text, reported) => {
    const home = fakeHome(locks)
    const result = await home.call('control_lock', { deviceName, action })
    expect(result).toMatchObject({ isError: false, text, data: { confirmed: true, reported, action } })
    expect(home.link.commands).toEqual([
      { topic: 'zwave/Back_Door_Lock/door_lock/endpoint_0/targetMode/set', text: sent },
    ])
  })

  it.each([
    ['lamp', 'Lamp is not a lock.'],
    ['front door', 'There is no device called "front door". The devices are Back Door Lock and Lamp.'],
  ])('refuses %s and sends nothing', async (deviceName, text) => {
    const home = fakeHome(locks)
    expect(await home.call('control_lock', { deviceName, action: 'unlock' })).toMatchObject({
      isError: true,
      text,
    })
    expect(home.link.commands).toEqual([])
  })
})
