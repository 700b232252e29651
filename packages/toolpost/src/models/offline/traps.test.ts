import { describe, expect, it } from 'vitest'
import { unharmed } from '../../../test/unharmed.ts'
import { ToolExecutor } from '../../executor/executor.ts'
import { localTools } from '../../tools/local-tools.ts'
import { defineTool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import { OfflineClient } from './offline-client.ts'

const control = defineTool({
  name: 'control_zwave_device',
  description: 'Controls',
  schema: {
    type: 'object',
    properties: {
      deviceName: { type: 'string' },
      action: { enum: ['on', 'off', 'dim'] },
      level: { type: 'number', minimum: 0, maximum: 100 },
    },
    required: ['deviceName', 'action'],
  },
  handler: () => 'done',
})
const lock = defineTool({
  name: 'lock',
  description: 'Locks',
  schema: { type: 'object', properties: { door: { type: 'string' } }, required: ['door'] },
  sentences: ['lock [the] {door}', '{door} locked'],
  handler: () => 'locked',
})

const tools = new ToolManager()
for (const tool of [...localTools(), control, lock]) tools.addCustomTool(tool)
const client = new OfflineClient({ executor: new ToolExecutor(tools) })
const CHANGES = new Set(['control_zwave_device', 'volume', 'lock'])

/** What sounds like a command and is none, or is more than one, or not for now. */
const TRAPS = `
  remind me to take out the trash at 7
  remind me to turn on the light
  remind me at 7 to turn the light on
  wake me at 7
  meet Bob at 5
  set an alarm for 7
  set the alarm to 7
  set a timer to ten
  turn on the light in ten minutes
  turn on the light in 10 minutes
  turn the light on in half an hour
  turn on the light in a minute
  turn on the light in a second
  turn on the light five minutes from now
  turn on the light in the morning
  turn on the light on Monday
  turn on the light on the weekend
  turn on the light at sunset
  turn on the light at 7
  turn on the light tomorrow
  turn off the heater tonight
  turn off the heater later
  turn off the heater next week
  turn on the light every day
  turn on the light for ten minutes
  turn on the light until midnight
  turn on the light after dinner
  turn on the light before I come home
  turn on the light when I get home
  turn on the light whenever it rains
  turn on the light once I am home
  turn on the light as soon as it gets dark
  turn on the light if it is dark
  turn on the light unless somebody sleeps
  turn on the light while I cook
  turn on the light in case it rains
  when I get home turn on the light
  when I get home turn the light on
  if it is dark turn the light on
  if I ask you to turn the light on
  after dinner turn the lamp off
  at 7 turn the lamp on
  tomorrow turn the lamp on
  in ten minutes turn the lamp off
  don't turn on the light
  don't turn the light on
  do not turn the light off
  please don't turn the light off
  never turn the light on
  you should not turn the light on
  I don't want the light on
  turn on the light and turn off the heater
  turn on the light and the heater
  turn on the light, turn off the heater
  turn on the light then turn it off
  turn the light on and off
  turn the light off then on
  turn on the lamp or the fan
  turn on the light but not the fan
  turn on the light instead of the fan
  turn on everything except the light
  turn on the light without the fan
  lamp on fan off
  how do I turn on the light
  how do I turn the light on
  what happens if I turn the light on
  what if you turn the lamp off
  did you turn the light on
  have you turned the light off
  why did the light turn on
  who turned the light on
  should I turn the light on
  can I turn the light on
  do you want me to turn the light on
  would you like to turn the light off
  I turned the light on
  I was about to turn the light off
  my wife turned the lights off
  the light is on
  the light was off
  the light went off
  somebody left the light on
  leave the light on
  keep the lamp on
  tell Bob to turn the light on
  she said turn the light off
  I think the light is off
  come on
  hang on
  hold on
  go on
  log off
  sign off
  game on
  what is going on
  the movie starts at 8
  dim the living room light by 20 percent
  dim the light by 20
  lower the lamp by ten percent
  brighten the lamp by half
  dim the light a little
  dim the light a bit more
  make the light brighter
  turn down the lamp
  dim the light to 20 percent in ten minutes
  dim the light to 20 when I watch a movie
  set the lamp to 20 percent and the fan to 30
  set the lamp to 20 tomorrow
  set the volume to 30 in ten minutes
  don't set the volume to 30
  mute when I call
  activate the lamp if it is dark
  activated the lamp
  disable the heater until Monday
  put off the meeting
  lock the door when I leave
  lock the door in ten minutes
  don't lock the door
  is the door locked
  I hope that the door is locked
  turn on me
  turn on some music later
`
  .split('\n')
  .map(line => line.trim())
  .filter(line => line !== '')

describe('[F61] an utterance that is half understood', () => {
  it.each(TRAPS)('changes nothing: %s', said => {
    for (const form of [said, `${said}.`, `please ${said}`, said.toUpperCase(), `${said} please`]) {
      const match = client.match(form)
      expect(match && CHANGES.has(match.tool.name) ? [form, match.args] : []).toEqual([])
    }
  })

  it.each([
    ['turn on the back door light', { deviceName: 'back door light', action: 'on' }],
    ['turn on the night light now', { deviceName: 'night light', action: 'on' }],
    ['turn off the lamp on the desk right away', { deviceName: 'lamp on the desk', action: 'off' }],
    ['turn the light in the living room off', { deviceName: 'light in the living room', action: 'off' }],
    ['put the kettle on', { deviceName: 'kettle', action: 'on' }],
    ['dim the lamp 20', { deviceName: 'lamp', action: 'dim', level: 20 }],
    ['switch on the second floor light', { deviceName: 'second floor light', action: 'on' }],
  ])('a plain one is done: %s', (said, args) => {
    expect(client.match(said)?.args).toEqual(args)
  })

  it('says what nobody here can do, or that it did not understand, and calls nothing', async () => {
    const reminder = await client.ask('remind me to take out the trash at 7')
    expect(reminder).toMatchObject({ results: [], iterations: 0 })
    expect(reminder.text).toBe('I cannot keep reminders: there is no tool for that here.')
    const nonsense = await client.ask('the movie starts at 8')
    expect(nonsense).toMatchObject({ results: [], iterations: 0 })
    expect(nonsense.text).toMatch(/^I did not understand that\./)
  })

  it.each([
    'turn on the light '.repeat(6_000),
    'x'.repeat(100_000),
    '" '.repeat(50_000),
    '-'.repeat(100_000),
    `turn on ${'1,000,'.repeat(15_000)}`,
    'a '.repeat(249),
    `turn ${'the '.repeat(120)}`,
    `what is ${'1 plus '.repeat(60)}`,
  ])('[F47] is found out in no time, however long it is (%#)', async said => {
    expect(await unharmed(async () => client.match(said))).toBeUndefined()
  })
})
