import { describe, expect, it } from 'vitest'
import { fakeHome } from '../../test/support/fake-home.ts'
import type { DeviceDescription } from '../home/virtual-device.ts'

const devices: DeviceDescription[] = [
  { name: 'Hallway Thermostat', values: [{ type: 'thermostat', value: 20 }] },
  { name: 'Attic', values: [{ type: 'thermostat', value: 68, unit: '°F' }] },
  { name: 'Lamp', values: [{ type: 'switch' }] },
  { name: 'Dead One', status: 'Dead', values: [{ type: 'thermostat' }] },
]
const SETPOINT = 'thermostat_setpoint/endpoint_0/setpoint/1/set'

function set(args: Record<string, unknown>, options?: { answers: boolean }) {
  const home = fakeHome(devices, options)
  return { home, result: home.call('set_thermostat', args) }
}

describe('set_thermostat', () => {
  it.each([
    [
      { deviceName: 'hallway thermostat', temperature: 21.5 },
      'Hallway Thermostat is set to 21.5 °C.',
      [['Hallway_Thermostat', SETPOINT, '21.5']],
    ],
    [{ deviceName: 'attic', temperature: 70 }, 'Attic is set to 70 °F.', [['Attic', SETPOINT, '70']]],
    [
      { deviceName: 'attic', mode: 'off' },
      'Attic is set to off.',
      [['Attic', 'thermostat_mode/endpoint_0/mode/set', '0']],
    ],
    [
      { deviceName: 'attic', mode: 'heat', temperature: 65 },
      'Attic is set to heat and 65 °F.',
      [
        ['Attic', 'thermostat_mode/endpoint_0/mode/set', '1'],
        ['Attic', SETPOINT, '65'],
      ],
    ],
  ])('sets %j', async (args, text, sent) => {
    const { home, result } = set(args)
    expect(await result).toMatchObject({ isError: false, text, data: { confirmed: true } })
    const commands = sent.map(([path, topic, value]) => ({ topic: `zwave/${path}/${topic}`, text: value }))
    expect(home.link.commands).toEqual(commands)
  })

  it.each([
    ['hallway', devices, 'Hallway Thermostat is set to 21 °C.'],
    [
      'the thermostat',
      [{ name: 'Warm Wall', values: [{ type: 'thermostat' }] }],
      'Warm Wall is set to 21 °C.',
    ],
  ] satisfies [string, DeviceDescription[], string][])(
    'knows which one is "%s"',
    async (deviceName, home, text) => {
      const result = await fakeHome(home).call('set_thermostat', { deviceName, temperature: 21 })
      expect(result).toMatchObject({ isError: false, text })
    },
  )

  it.each([
    [{ deviceName: 'attic' }, 'set_thermostat needs a temperature, a mode or both.'],
    [{ deviceName: 'lamp', temperature: 20 }, 'Lamp is not a thermostat.'],
    [
      { deviceName: 'hallway thermostat', temperature: 70 },
      'Hallway Thermostat accepts 7 to 32 °C, not 70. Nothing was sent.',
    ],
    [{ deviceName: 'attic', temperature: 21 }, 'Attic accepts 45 to 90 °F, not 21. Nothing was sent.'],
    [{ deviceName: 'attic', mode: 'cool' }, 'Attic has no mode cool; expected one of off or heat.'],
    [
      { deviceName: 'dead one', temperature: 20 },
      'Dead One is dead: it no longer responds. Nothing was sent.',
    ],
    [
      { deviceName: 'thermostat', temperature: 20 },
      'There is no device called "thermostat". Did you mean Hallway Thermostat?',
    ],
    [{ deviceName: 'atic', temperature: 70 }, 'There is no device called "atic". Did you mean Attic?'],
  ])('refuses %j and sends nothing', async (args, text) => {
    const { home, result } = set(args)
    await expect(result).resolves.toMatchObject({ isError: true, text })
    expect(home.link.commands).toEqual([])
  })

  it('says that it was not confirmed', async () => {
    const { result } = set({ deviceName: 'attic', temperature: 70 }, { answers: false })
    await expect(result).resolves.toMatchObject({
      isError: false,
      text: 'The command "70 °F" was sent to Attic, but not confirmed within 0.05 seconds.',
      data: { confirmed: false, temperature: 70, unit: '°F', mode: null },
    })
  })
})
