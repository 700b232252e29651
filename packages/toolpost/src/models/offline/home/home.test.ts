import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { household } from '../../../../test/household.ts'
import { HOME } from '../../../../test/household-home.ts'
import { recordingLogger } from '../../../testing/recording-logger.ts'
import { declareTools } from '../../../tools/declared-tools.ts'
import { defineTool } from '../../../tools/tool.ts'

const argsOf = async (home: ReturnType<typeof household>, said: string) => {
  await home.client.refresh()
  return home.client.match(said)?.args
}

describe('a home that is written down', () => {
  const sentences = {
    rooms: { Nook: ['Switch One', 'Desk Lamp'] },
    groups: { 'party lights': ['Porch Light', 'Floor Lamp'] },
    aliases: { 'Switch One': ['the robot', 'hoover'], 'Living Room': ['parlour'], 'Movie Time': ['cinema'] },
  }
  const home = household(HOME, { scenes: ['Movie Time'], sentences })

  it.each([
    ['turn on the hoover', ['on Switch One']],
    ['turn off the lights in the nook', ['off Desk Lamp']],
    ['turn off everything in the nook', ['off Switch One', 'off Desk Lamp']],
    ['party lights on', ['on Porch Light', 'on Floor Lamp']],
    ['turn off the parlour lights', ['off Living Room Light', 'off Floor Lamp']],
    ['turn off the lights in the parlour', ['off Living Room Light', 'off Floor Lamp']],
    ['start cinema', ['undefined undefined']],
  ])('%s', async (said, expected) => {
    home.reset()
    await home.client.ask(said)
    const made = home.calls.map(call => JSON.parse(call.slice(call.indexOf(' '))))
    expect(made.map(({ action, deviceName }) => `${action} ${deviceName}`)).toEqual(expected)
  })
})

describe('lists and rules that are written down', () => {
  const bar = defineTool({
    name: 'bar',
    description: 'Serves',
    schema: { type: 'object', properties: { drink: { type: 'string' }, size: { type: 'string' } } },
    sentences: [
      '<bring> [me] [a] [{size:small|large}] {drink@drinks}',
      'pour {drink@wines}',
      'mix <cocktail>',
    ],
    handler: () => 'Cheers',
  })
  const logger = recordingLogger()
  const home = household([], {
    tools: [bar],
    logger,
    sentences: {
      rules: { bring: 'bring|fetch|get', loop: 'again <loop>', broken: 'one (two' },
      lists: {
        drinks: ['tea', { say: 'flat white|white coffee', value: 'flat_white' }, { say: ['espresso'] }],
      },
    },
  })

  it.each([
    ['fetch me a large flat white', { size: 'large', drink: 'flat_white' }],
    ['bring me a white coffee', { drink: 'flat_white' }],
    ['get espresso', { drink: 'espresso' }],
    ['get tee', undefined],
    ['get esspresso', { drink: 'espresso' }],
  ])('%s', async (said, args) => expect(await argsOf(home, said)).toEqual(args))

  it('say what is wrong with them, and where, and are left out', async () => {
    await argsOf(home, 'get tea')
    const reasons = logger.at('warn').map(({ fields }) => fields.reason)
    expect(reasons).toEqual([
      "The rule 'broken' has a bracket without a matching ')', at character 5",
      "The rule 'loop' refers to itself",
      "The sentence 'pour {drink@wines}' refers to a list 'wines' that does not exist",
      "The sentence 'mix <cocktail>' refers to a rule <cocktail> that does not exist",
    ])
  })
})

describe('names', () => {
  const home = household([
    { name: 'Switch One', kind: 'switch', value: false },
    { name: 'Switch Won', kind: 'switch', value: false },
    { name: 'Лампа', kind: 'switch', value: false },
    { name: '台所の照明', kind: 'dimmer', value: 0 },
    { name: 'Café_Lights-2', kind: 'switch', value: false },
    { name: 'Light', location: 'Hall', kind: 'switch', value: false },
    { name: 'Light', location: 'Attic', kind: 'switch', value: false },
  ])

  it.each([
    ['turn on switch 1', 'Switch One'],
    ['turn on switch won', 'Switch Won'],
    ['turn on Лампа', 'Лампа'],
    ['turn on 台所の照明', '台所の照明'],
    ['turn on café lights two', 'Café_Lights-2'],
    ['turn on cafe lights two', 'Café_Lights-2'],
    ['turn on the hall light', 'Hall Light'],
    ['turn on the light in the attic', 'Attic Light'],
  ])('%s', async (said, deviceName) => {
    expect(await argsOf(home, said)).toEqual({ deviceName, action: 'on' })
  })

  it('of another alphabet are in no graph', async () => {
    await home.client.refresh()
    const labels = home.client.graph().rules.flatMap(({ arcs }) => arcs.flat().map(([label]) => label))
    expect(labels).toContain('won')
    expect(labels.filter(label => typeof label === 'string' && !/^[a-z']+$/.test(label))).toEqual([])
  })

  it('of another alphabet are reported as unspeakable, unless they have another name too', async () => {
    await home.client.refresh()
    expect(home.client.unspeakable()).toEqual(['Лампа', '台所の照明'])
    const named = household([{ name: 'Лампа', kind: 'switch', value: false }], {
      scenes: ['Ночь'],
      sentences: { aliases: { Лампа: ['lamp'] } },
    })
    expect(named.client.unspeakable()).toEqual([])
    await named.client.refresh()
    expect(named.client.unspeakable()).toEqual(['Ночь'])
  })

  it('that several devices have are asked about', async () => {
    const { text, results } = await home.client.ask('turn on light')
    expect({ text, results }).toEqual({
      text: 'Which one do you mean: Hall Light or Attic Light?',
      results: [],
    })
  })
})

describe('a home that changes', () => {
  it('is read again before saying that something is not there', async () => {
    const devices = [{ name: 'Lamp', kind: 'switch' as const, value: false }]
    const home = household(devices)
    await home.client.ask('turn on the lamp')
    const graph = home.client.graph()
    devices.push({ name: 'Disco Ball', kind: 'switch', value: false })
    await home.client.refresh()
    expect(home.client.match('turn on the disco ball')?.args).toEqual({
      deviceName: 'Disco Ball',
      action: 'on',
    })
    expect(home.client.graph().version).not.toBe(graph.version)
  })

  it('counts what it switched, and says what did not work', async () => {
    const home = household(HOME)
    expect((await home.client.ask('turn off the lights in the living room')).text).toBe(
      '2 lights are off: Living Room Light and Floor Lamp.',
    )
    expect((await home.client.ask('turn on switch one and the demo switch')).text).toBe(
      'Switch One and Demo Switch are on.',
    )
    expect((await home.client.ask('is the tv on')).text).toBe('Yes, TV is on.')
    expect((await home.client.ask('is the front door open')).text).toBe('No, Front Door Sensor is closed.')
    expect((await home.client.ask('how warm is it in the bedroom')).text).toBe('It is 18 °C.')
    expect((await home.client.ask('turn on the spaceship')).text).toBe(
      'I do not know a device called "spaceship".',
    )
    expect((await home.client.ask('turn on the purple desk lamp')).text).toMatch(
      /Did you mean "turn on the Desk Lamp"\?$/,
    )
  })
})

describe('the example of docs/sentences.md', () => {
  const page = readFileSync(new URL('../../../../../../docs/sentences.md', import.meta.url), 'utf8')
  const [, example = ''] = /```json\n(\{\n {2}"tools"[\s\S]*?)\n```/.exec(page) ?? []
  const { tools, sentences } = JSON.parse(example)
  const home = household([], { tools: declareTools(tools), sentences })

  it.each([
    ['fetch us two large flat white', { count: 2, size: 'large', drink: 'flat_white' }],
    ['bring me a tea please', { drink: 'tea' }],
    ["I'd like an espresso", { drink: 'espresso', size: 'small' }],
    ['fetch us two large flat whites in ten minutes', undefined],
  ])('%s', async (said, args) => expect(await argsOf(home, said)).toEqual(args))
})
