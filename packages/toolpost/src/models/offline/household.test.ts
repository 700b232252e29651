import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HOME, SCENES } from '../../../test/household-home.ts'
import { household } from '../../../test/household.ts'

/** `what is said => the calls`, as a person would write them down. */
const table = (file: string) =>
  readFileSync(new URL(`../../../test/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))

const SHORT: Record<string, string> = {
  on: 'control_zwave_device',
  off: 'control_zwave_device',
  dim: 'control_zwave_device',
}

/** `on Desk Lamp` for `control_zwave_device {"deviceName":"Desk Lamp","action":"on"}`. */
function inShort(call: string): string {
  const at = call.indexOf(' ')
  const [name, args] = [call.slice(0, at), JSON.parse(call.slice(at + 1))]
  const { deviceName, action, level, temperature, mode, ...rest } = args
  if (name === 'control_zwave_device') return [action, deviceName, level].filter(part => part !== undefined).join(' ')
  if (name === 'get_device_sensor_data') return `read ${deviceName}`
  if (name === 'list_zwave_devices') return `list${rest.filter ? ` ${rest.filter}` : ''}`
  if (name === 'set_thermostat') return ['heat', deviceName, temperature, mode].filter(part => part !== undefined).join(' ')
  if (name === 'control_lock') return `${action} ${deviceName}`
  if (name === 'activate_scene') return `scene ${rest.sceneName}`
  if (name === 'volume') return ['volume', action, level].filter(part => part !== undefined).join(' ')
  if (name === 'datetime') return `time${rest.timezone ? ` ${rest.timezone}` : ''}`
  return [name, ...Object.values(rest)].join(' ')
}
void SHORT

describe('what people say at home, and the calls it means', () => {
  it.each(table('phrasings.txt').map(line => line.split(' => ')))('%s', async (said = '', expected = '') => {
    const { client, calls } = household(HOME, { scenes: SCENES })
    await client.ask(said)
    expect(calls.map(inShort).join('; ')).toBe(expected)
  })
})

describe('what must do nothing', () => {
  it.each(table('nothing.txt'))('%s', async said => {
    const { client, calls } = household(HOME, { scenes: SCENES })
    await client.ask(said)
    expect(calls.map(inShort)).toEqual([])
  })
})
