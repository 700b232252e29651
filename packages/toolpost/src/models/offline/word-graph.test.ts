import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { accepts, wander } from '../../../test/graph-walk.ts'
import { type HouseholdDevice, household } from '../../../test/household.ts'
import { HOME, SCENES } from '../../../test/household-home.ts'
import { defineTool } from '../../tools/tool.ts'
import type { SentenceGraph } from './sentence-graph.ts'

const { client, manager } = household(HOME, { scenes: SCENES })
let graph: SentenceGraph

beforeAll(async () => {
  await client.refresh()
  graph = client.graph()
})

/** What has a word of a denial, and is none. */
const WANTED =
  /(?:good|movie) (?:night|time)|(?:make sure|ensure|see (?:that|to it)).*(?:turned|switched)|can i (?:get|have)|but not|not (?:so|as)|\bi (?:want|need|would like) (?:to have )?.*(?:turned|switched)|i want to (?:have|do|get)/g

describe('the graph of sentences', () => {
  it.each([
    'turn on switch one',
    'please turn the floor lamp off',
    'turn off all the lights',
    'could you dim the desk lamp to thirty five percent please',
    'read temp sensor one',
    'what is seven times eight',
    'lock the back door',
    'turn on switch one and the demo switch',
    'turn off the tv and close the kitchen blinds',
    'set the thermostat to twenty one point five degrees',
    'did i leave the front door open',
    'which lights are on',
    'start movie time',
    "don't turn on switch one",
    'turn on the light in ten minutes',
    'turn on switch two',
    'set the living room light to half',
    'turn the heating down to nineteen and a half',
    'turn off all the lights except the porch light',
    'hey could you turn both lamps off for me',
    'dim the bedroom to twenty percent',
    'turn the tv on and then close the curtains',
    'is the light on in the bedroom',
    'please unlock the back door',
    'is the desk lamp on or off',
    'make sure the back door is locked',
    'make it two degrees warmer',
    'turn on the desk lamp at forty percent',
    "let's start movie time",
    'turn off switch five',
    'turn switch eleven on',
    'what is the humidity level in the bathroom',
    'kill the floor lamp',
    'put movie time on',
    'i would like the desk lamp at thirty percent',
    'turn the desk lamp all the way up',
    'reduce the desk lamp to forty percent',
    'lower the brightness in the bedroom',
    'make it darker in the bedroom',
    'bump the thermostat up by two degrees',
    'has the back door been locked',
    'turn on switch one then close the curtains',
  ])('has "%s"', sentence => expect(accepts(graph, sentence)).toBe(true))

  it.each([
    'turn on',
    'search for cheap flights',
    'turn on the spaceship',
    'turn on a switch one',
    // Soon heard for a question, or for anything that begins so.
    'the desk lamp on',
    'seven times eight',
    // Typed only: too short, or too easily said of something else.
    'thirty',
    'plus four',
    'double it',
    'a bit less',
    'off desk lamp',
    'on demo switch',
    'the demo switch should be on',
    'toggle switch one',
    'leave the kitchen blinds half open',
    // Degrees are Celsius here.
    'set the thermostat to eighty degrees',
  ])('does not have "%s"', sentence => expect(accepts(graph, sentence)).toBe(false))

  it('has things that a room does not have, so that the room is not heard instead', async () => {
    const { client: office } = household([{ name: 'Office Heater', kind: 'switch', value: false }])
    await office.refresh()
    const said = ['turn off the office', 'turn off the office light', 'dim the office light to ten percent']
    expect(said.map(sentence => accepts(office.graph(), sentence))).toEqual([true, true, true])
    expect(said.map(sentence => office.understand(sentence).kind)).toEqual(['act', 'talk', 'talk'])
  })

  it('has rooms that a home does not have, if they sound like one of its own', async () => {
    const { client: flat } = household([{ name: 'Living Room Light', kind: 'dimmer', value: 0 }])
    await flat.refresh()
    const said = ['turn on the dining room light', 'dim the dining room light to thirty percent']
    expect(said.map(sentence => accepts(flat.graph(), sentence))).toEqual([true, true])
    expect(said.map(sentence => ['act', 'tell'].includes(flat.understand(sentence).kind))).toEqual([
      false,
      false,
    ])
  })

  it('has the numbers that a schema allows', () => {
    const tool = defineTool({
      name: 'order',
      description: 'Orders',
      schema: { type: 'object', properties: { count: { type: 'integer', minimum: 1, maximum: 10 } } },
      sentences: ['order {count} pizzas'],
      handler: () => 'done',
    })
    const { client: hungry } = household([], { tools: [tool] })
    const said = (sentence: string) => accepts(hungry.graph(), sentence)
    expect(['order ten pizzas', 'order eleven pizzas', 'order zero pizzas'].map(said)).toEqual([
      true,
      false,
      false,
    ])
  })

  it('has one arc per label out of each state, no dead ends, and only words that can be said', () => {
    for (const { arcs, ends } of graph.rules) {
      for (const [state, out] of arcs.entries()) {
        expect(new Set(out.map(([label]) => label)).size).toBe(out.length)
        expect(out.length > 0 || ends.includes(state)).toBe(true)
        for (const [label] of out)
          expect(typeof label === 'number' ? label < graph.rules.length : /^[a-z']+$/.test(label)).toBe(true)
      }
    }
  })

  it('has sentences that are understood; those with a denial, a time or a past change nothing', () => {
    const denied =
      /\b(can i|did|who|i will|i want to|want me|tell her|tell him|have to|don't|not|never|should|did you|why|how do|forgot|remind|tomorrow|later|tonight|minutes|hour|hours|morning|evening|night|when|if|until|every (?:day|morning|night)|turned|switched|monday|friday|sunday|noon|midnight|sunset|after|before|next week|as soon)\b/
    const choices = fc.infiniteStream(fc.nat())
    let understood = 0
    let all = 0
    fc.assert(
      fc.property(choices, stream => {
        const words = wander(graph, ways => (ways === 0 ? 0 : (stream.next().value ?? 0) % ways))
        const sentence = words.join(' ')
        const { kind } = client.understand(sentence)
        const isDenied = denied.test(sentence.replaceAll(WANTED, ''))
        if (isDenied) expect([sentence, kind]).not.toContain('act')
        if (isDenied || /\b(it|them)\b/.test(sentence)) return
        all++
        if (kind !== 'nothing') understood++
      }),
      { numRuns: 200 },
    )
    // The rest asks of things what they cannot be: whether a light is open.
    expect(understood / all).toBeGreaterThan(0.8)
  })

  it('is the same until something else can be said, and reports that', async () => {
    expect(client.graph()).toBe(graph)
    const changed = new Promise<void>(resolve => {
      const stop = client.onGraphChange(() => {
        stop()
        resolve()
      })
    })
    manager.addCustomTool(
      defineTool({
        name: 'bell',
        description: 'Rings',
        schema: {},
        sentences: ['ring the bell'],
        handler: () => 'ding',
      }),
    )
    await changed
    expect(client.graph().version).not.toBe(graph.version)
    expect(accepts(client.graph(), 'ring the bell')).toBe(true)
  })
})

describe('a large home', () => {
  const rooms = ['Kitchen', 'Bedroom', 'Office', 'Attic', 'Cellar', 'Studio', 'Barn', 'Lounge']
  const things = ['Light', 'Lamp', 'Fan', 'Blinds', 'Heater']
  const devices = (count: number): HouseholdDevice[] =>
    Array.from({ length: count }, (_, at) => {
      const thing = things[at % things.length] ?? ''
      const kind = thing === 'Blinds' ? 'cover' : thing === 'Light' || thing === 'Lamp' ? 'dimmer' : 'switch'
      return {
        name: `${rooms[at % rooms.length]} ${thing} ${at}`,
        kind,
        value: kind === 'switch' ? false : 0,
      }
    })
  const cpuMs = (work: () => unknown) => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  /** Slack for a busy machine. bench/voice/grammar-build.mjs measures it in a fresh process. */
  const BUSY = 1.5
  const SAID = [
    'turn on kitchen light 40',
    'turn off all the lights in the barn',
    'trun on the atic lamp 11',
    'sing me a song',
  ]

  it('of 200 devices, with 300 more sentences, is ready in 200 ms and understood in 5 ms', async () => {
    const sentences = Array.from(
      { length: 300 },
      (_, at) => `(do|make) [the] thing number${at} [for|with] {place${at}:here|there} [now]`,
    )
    const tool = defineTool({
      name: 'many',
      description: 'Many',
      schema: {},
      sentences,
      handler: () => 'done',
    })
    const { client: large } = household(devices(200), { tools: [tool] })
    await large.refresh()
    const builtMs = cpuMs(() => large.understand('turn on kitchen light 40')) + cpuMs(() => large.graph())
    expect(builtMs).toBeLessThan(BUSY * 200)
    for (const said of SAID) for (let round = 0; round < 20; round++) large.understand(said)
    for (const said of SAID) {
      const times = Array.from({ length: 5 }, () => cpuMs(() => large.understand(said)))
      expect(Math.min(...times)).toBeLessThan(BUSY * 5)
    }
    expect(large.understand('make the thing number7 for there').kind).toBe('act')
  })

  it('of 5,000 devices is understood, and its graph is never expanded', async () => {
    const { client: large } = household(devices(5_000))
    await large.refresh()
    expect(large.match('turn on kitchen light 40')?.args).toEqual({
      deviceName: 'Kitchen Light 40',
      action: 'on',
    })
    for (const said of SAID) for (let round = 0; round < 10; round++) large.understand(said)
    for (const said of SAID) {
      const times = Array.from({ length: 5 }, () => cpuMs(() => large.understand(said)))
      expect([said, Math.min(...times) < 10]).toEqual([said, true])
    }
    const { rules } = large.graph()
    expect(rules.flatMap(({ arcs }) => arcs.flat()).length).toBeLessThan(400_000)
  })
})
