import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { household } from '../../../test/household.ts'
import { HOME, SCENES } from '../../../test/household-home.ts'
import { MORE_HOMES } from '../../../test/more-homes.ts'
import { OTHER_HOMES } from '../../../test/other-homes.ts'
import type { ConversationMessage } from '../ai-client.ts'

/** Lines of a table: `what is said => the calls it means`. */
const table = (file: string) =>
  readFileSync(new URL(`../../../test/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split(/ =>\s*/) as [said: string, expected?: string])

const home = household(HOME, { scenes: SCENES })
type Household = typeof home

/** The calls of the last turn, as the tables write them: `on Desk Lamp` for control_zwave_device. */
async function callsOf(turns: string[], { client, calls, reset }: Household = home): Promise<string> {
  let messages: ConversationMessage[] = []
  reset()
  for (const turn of turns) {
    calls.length = 0
    messages = (await client.ask([...messages, { role: 'user', content: turn }])).messages
  }
  return calls.map(inShort).join('; ')
}

function inShort(call: string): string {
  const at = call.indexOf(' ')
  const [name, args] = [call.slice(0, at), JSON.parse(call.slice(at + 1))]
  const { deviceName, action, level, temperature, mode, ...rest } = args
  const words = (...parts: unknown[]) => parts.filter(part => part !== undefined).join(' ')
  if (name === 'control_zwave_device') return words(action, deviceName, level)
  if (name === 'get_device_sensor_data') return words('read', deviceName)
  if (name === 'list_zwave_devices') return words('list', rest.filter)
  if (name === 'set_thermostat') return words('heat', deviceName, temperature, mode)
  if (name === 'control_lock') return words(action, deviceName)
  if (name === 'activate_scene') return words('scene', rest.sceneName)
  if (name === 'volume') return words('volume', action, level)
  if (name === 'datetime') return words('time', rest.timezone)
  return words(name, ...Object.values(rest))
}

describe('what people say at home, and the calls it means', () => {
  const phrasings = [...table('phrasings.txt'), ...table('more-phrasings.txt')]
  it.each(phrasings)('%s', async (said, expected = '') => expect(await callsOf([said])).toBe(expected))
  it('are many', () => expect(phrasings.length).toBeGreaterThanOrEqual(250))
})

describe('what must do nothing', () => {
  const sentences = ['nothing.txt', 'more-nothing.txt', 'typed-nothing.txt', 'talk-in-the-room.txt'].flatMap(
    table,
  )
  it.each(sentences)('%s', async said => {
    for (const form of [said, `Please ${said}.`]) expect(await callsOf([form])).toBe('')
  })
  it('are many', () => expect(sentences.length).toBeGreaterThanOrEqual(250))

  it.each(table('typed-nothing.txt'))('is not even offered: %s', async said => {
    expect(await callsOf([said, 'yes'])).toBe('')
  })
})

describe('what was said before', () => {
  it.each([...table('conversations.txt'), ...table('typed-phrasings.txt')])(
    '%s',
    async (said, expected = '') => {
      expect(await callsOf(said.split(' / '))).toBe(expected)
    },
  )
})

describe.each(Object.entries({ ...OTHER_HOMES, ...MORE_HOMES }))('in the %s', (name, { devices, scenes }) => {
  const other = household(devices, { scenes })
  const lines = ['other-homes.txt', 'more-homes.txt'].flatMap(table)
  const first = lines.findIndex(([said]) => said === `${name}:`) + 1
  const after = lines.slice(first)
  const end = after.findIndex(([said]) => said.endsWith(':'))
  it.each(end < 0 ? after : after.slice(0, end))('%s', async (said, expected = '') => {
    expect(await callsOf(said.split(' / '), other)).toBe(expected)
  })
})
