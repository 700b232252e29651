import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import { localTools } from '../../tools/local-tools.ts'
import { defineTool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import { OfflineClient } from './offline-client.ts'

const text = { type: 'string', minLength: 1 }
const zwaveSchemas = {
  control_zwave_device: {
    type: 'object',
    properties: {
      deviceName: text,
      action: { type: 'string', enum: ['on', 'off', 'dim'] },
      level: { type: 'number', minimum: 0, maximum: 100 },
    },
    required: ['deviceName', 'action'],
    additionalProperties: false,
  },
  get_device_sensor_data: {
    type: 'object',
    properties: { deviceName: text },
    required: ['deviceName'],
    additionalProperties: false,
  },
  list_zwave_devices: {
    type: 'object',
    properties: { filter: { type: 'string' }, includeInactive: { type: 'boolean' } },
    additionalProperties: false,
  },
  check_zwave_health: { type: 'object', properties: {}, additionalProperties: false },
}

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather',
  schema: { type: 'object', properties: { location: text }, required: ['location'] },
  sentences: ['[what is] [the] weather in {location}'],
  handler: () => ({ temperature: 22 }),
})

function clientWith(...names: ('weather' | 'zwave')[]): OfflineClient {
  const tools = new ToolManager()
  for (const tool of localTools({ documents: '/notes' })) tools.addCustomTool(tool)
  if (names.includes('weather')) tools.addCustomTool(weather)
  if (names.includes('zwave')) {
    const server = Object.entries(zwaveSchemas).map(([name, schema]) =>
      defineTool({ name, description: name, schema, handler: () => 'done' }),
    )
    tools.addMcpTools(server, { server: 'zwave' })
  }
  return new OfflineClient({ executor: new ToolExecutor(tools) })
}

const client = clientWith('weather', 'zwave')
const control = (deviceName: string, action: string, level?: number) => [
  'control_zwave_device',
  { deviceName, action, ...(level !== undefined && { level }) },
]
const sensor = (deviceName: string) => ['get_device_sensor_data', { deviceName }]
const time = (timezone?: string) => ['datetime', timezone === undefined ? {} : { timezone }]
const volume = (action: string, level?: number) => [
  'volume',
  { action, ...(level !== undefined && { level }) },
]
const math = (expression: string) => ['math_eval', { expression }]
const devices = (args: object = {}) => ['list_zwave_devices', args]

/** What people say, and the call it means. */
const PHRASINGS: [string, unknown[]][] = [
  ['turn on Switch One', control('Switch One', 'on')],
  ['Turn on the Switch One.', control('Switch One', 'on')],
  ['turn Switch One on', control('Switch One', 'on')],
  ['turn off the living room light', control('living room light', 'off')],
  ['please turn the living room light off', control('living room light', 'off')],
  ['Could you please switch off the Demo Switch?', control('Demo Switch', 'off')],
  ['switch on my porch light', control('porch light', 'on')],
  ['trun on switch one', control('switch one', 'on')],
  ['swich off Demo Switch', control('Demo Switch', 'off')],
  ['hey, turn on the light in the kitchen', control('light in the kitchen', 'on')],
  ['living room light off', control('living room light', 'off')],
  ['the porch light on please', control('porch light', 'on')],
  ['power off the garage heater', control('garage heater', 'off')],
  ['activate Demo Switch', control('Demo Switch', 'on')],
  ['dim the living room light to thirty percent', control('living room light', 'dim', 30)],
  ['dim the living room light to 30%', control('living room light', 'dim', 30)],
  ['Dim Living Room Light to 45 percent', control('Living Room Light', 'dim', 45)],
  ['set the living room light to twenty-five percent', control('living room light', 'dim', 25)],
  ['set living room light to 80', control('living room light', 'dim', 80)],
  ['set the brightness of the living room light to half', control('living room light', 'dim', 50)],
  ['set the living room light brightness to one hundred', control('living room light', 'dim', 100)],
  ['bring the living room light to full', control('living room light', 'dim', 100)],
  ['dim the hall light', control('hall light', 'dim')],
  ['living room light to 20 %', control('living room light', 'dim', 20)],
  ['brighten the living room light to ninety', control('living room light', 'dim', 90)],

  ['read Temp Sensor 1', sensor('Temp Sensor 1')],
  ['what does the humidity sensor say?', sensor('humidity sensor')],
  ["what's the temperature of Temp Sensor 1", sensor('Temp Sensor 1')],
  ['is the front door sensor open?', sensor('front door sensor')],
  ['is Switch One on', sensor('Switch One')],
  ['what is the status of the garage heater', sensor('garage heater')],
  ['give me the reading from Temp Sensor 1', sensor('Temp Sensor 1')],
  ['check the humidity sensor', sensor('humidity sensor')],

  ['list devices', devices()],
  ['list all my devices', devices()],
  ['show me the zwave devices', devices()],
  ['which devices do I have?', devices()],
  ['what devices are there', devices()],
  ['which devices are in the kitchen', devices({ filter: 'kitchen' })],
  ['which lights are on?', devices({ filter: 'lights' })],
  ['list the kitchen devices', devices({ filter: 'kitchen' })],
  ['show all devices including inactive ones', devices({ includeInactive: true })],

  ['is the z-wave network ok?', ['check_zwave_health', {}]],
  ['check the zwave network', ['check_zwave_health', {}]],
  ['is my home okay', ['check_zwave_health', {}]],

  ['what time is it', time()],
  ['what time is it in Tokyo', time('Tokyo')],
  ["what's the time in San Francisco?", time('San Francisco')],
  ['What time is it right now?', time()],
  ['tell me the time', time()],
  ['what day is it today', time()],
  ['what is the date', time()],
  ["what is today's date?", time()],
  ['waht time is it in New York', time('New York')],
  ['time in Berlin', time('Berlin')],

  ['what is the volume', volume('get')],
  ['how loud is it?', volume('get')],
  ['set the volume to 30', volume('set', 30)],
  ['set volume to thirty percent', volume('set', 30)],
  ['turn the volume down to 10 %', volume('set', 10)],
  ['volume 55', volume('set', 55)],
  ['mute', volume('mute')],
  ['please mute the speakers', volume('mute')],
  ['unmute the sound', volume('unmute')],
  ['turn off the sound', volume('mute')],
  ['turn the sound back', []],

  ['what is 12 % of 85', math('12 % of 85')],
  ['What is 12% of 85?', math('12% of 85')],
  ["what's 2*(3+4)?", math('2*(3+4)')],
  ['what is twelve times seven', math('12 * 7')],
  ['how much is 17 plus 4', math('17 + 4')],
  ['calculate sqrt(2)', math('sqrt(2)')],
  ['what is the square root of eighty one', math('sqrt(81)')],
  ['what is fifteen percent of two hundred', math('15 % of 200')],
  ['what is 5 inches in cm', math('5 inches to cm')],
  ['7 * 6', math('7 * 6')],
  ['what is nine squared', math('9 ^ 2')],

  ['what is the weather in Oslo', ['get_weather', { location: 'Oslo' }]],
  ['weather in New York', ['get_weather', { location: 'New York' }]],
  ['search for cheap flights', ['search', { query: 'cheap flights' }]],
  ['search the web for Ada Lovelace', ['search', { query: 'Ada Lovelace' }]],
  ['look up the tallest mountain', ['search', { query: 'the tallest mountain' }]],
  ['who was Ada Lovelace?', ['search', { query: 'Ada Lovelace' }]],
  ['search my notes for the wifi password', ['search_documents', { query: 'the wifi password' }]],
  ['what do my notes say about heating', ['search_documents', { query: 'heating' }]],
  ['find waste collection in the documents', ['search_documents', { query: 'waste collection' }]],
  ['echo hello there', ['echo', { text: 'hello there' }]],

  ['what is the weather', []],
  ['what is love', []],
  ["don't turn on the light", []],
  ['is the meeting today', []],
  ['tell me a joke', []],
  ['good morning', []],
  ['', []],
  ['???', []],
]

describe('what people say, and the call it means', () => {
  it.each(PHRASINGS)('%s', (said, expected) => {
    const match = client.match(said)
    expect(match ? [match.tool.name, match.args] : []).toEqual(expected)
  })

  it('does not take a question for a calculation where no tool knows the weather', () => {
    expect(clientWith().match('what is the weather in Oslo')).toBeUndefined()
  })
})
