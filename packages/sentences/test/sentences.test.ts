import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type PlannedCall, Sentences, type ToolInfo } from '../src/index.ts'
import { HOME, type HouseholdDevice, household, table } from './household.ts'

const text = { type: 'string' }
const issues: ToolInfo = {
  name: 'create_issue',
  schema: { type: 'object', properties: { title: text } },
  sentences: ['create [an] issue {title}'],
}
const search: ToolInfo = {
  name: 'search',
  schema: { type: 'object', properties: { query: text } },
  readOnly: true,
}

const own = new Sentences()

/** The calls of a request and its answer, with these tools and no home. */
async function ask(said: string, tools: ToolInfo[] = [issues, search], sentences = own) {
  const calls: PlannedCall[] = []
  const run = async (planned: readonly PlannedCall[]) => {
    calls.push(...planned)
    return planned.map(() => ({ success: true, text: 'Done' }))
  }
  const meaning = sentences.understand(said, { tools })
  const answered = meaning && (await sentences.carryOut(meaning, { tools }, { run }))
  return { args: calls.map(({ args }) => args), text: answered?.text ?? sentences.help({ tools }) }
}

function custom(yaml: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-sentences-'))
  mkdirSync(join(folder, 'en'))
  writeFileSync(join(folder, 'en', 'own.yaml'), yaml)
  return folder
}

describe('free text', () => {
  it.each([
    ['search for vitamin k', { query: 'vitamin k' }],
    ['Please search for salt, pepper and now', { query: 'salt, pepper and now' }],
    ['create an issue retry is not quick', { title: 'retry is not quick' }],
  ])('keeps every word: %s', async (said, args) => expect((await ask(said)).args).toEqual([args]))
})

describe('a project without a home', () => {
  it('knows of none', async () => {
    expect((await ask('who are you')).text).not.toMatch(/home/)
    expect(await ask('turn on the lights')).toEqual({
      args: [],
      text: 'I did not understand that. You can say "create issue …", "search for …".',
    })
  })
})

describe('a home', () => {
  const odd = ['Fan, left', 'Hall Light', 'Hell Light', 'Socket 20', 'Socket 21', 'Light_Attic_02']
  const comma = [...HOME, ...odd.map((name): HouseholdDevice => ({ name, kind: 'switch', value: false }))]
  it.each([
    ['turn on the hull light / the second one', 'on Hell Light'],
    ['turn on socket twenty one', 'on Socket 21'],
    ['light attic 2 on', 'on Light_Attic_02'],
    ['turn on the fan left / turn it off', 'off Fan, left'],
    ['turn on switch one / and the other one / turn them both off', 'off Switch One; off Demo Switch'],
    ['turn on the demo switch / what about the desk lamp?', 'read Desk Lamp'],
    ['yes', ''],
  ])('%s', async (said, calls) =>
    expect((await household(comma).converse(...said.split(' / '))).calls).toBe(calls),
  )

  it.each(table('answers.txt'))('%s: %s', async (said, answer) =>
    expect((await household(HOME).converse(said)).text).toBe(answer),
  )

  const few = HOME.filter(({ name }) => ['Desk Lamp', 'Back Door Lock', 'Porch Light'].includes(name))
  it.each([
    ['list all devices', 'list', 'There are the desk lamp, the porch light and the back door lock.'],
    ['which devices are outside', 'list', 'There is the porch light.'],
    ['lock both doors', 'lock Back Door Lock', expect.any(String)],
    ['close both blinds', '', 'I do not know a device called "both blinds".'],
    ['which scenes are there / turn them off', '', expect.not.stringMatching(/ off\.$/)],
  ])('of three devices: %s', async (said, calls, text) =>
    expect(await household(few).converse(...said.split(' / '))).toEqual({ calls, text }),
  )

  it.each([
    [['Movie Time', 'Reading'], 'The scenes are Movie Time, Reading.'],
    [['Movie Time'], 'There is one scene: Movie Time.'],
    [[], 'There are no scenes.'],
  ])('names its scenes: %j', async (scenes, text) =>
    expect((await household(HOME, { scenes }).converse('which scenes are there')).text).toBe(text),
  )

  it('is the room that the request comes from', async () => {
    const { converse } = household(HOME, { area: 'Living Room' })
    expect((await converse('turn on the lights in here')).calls).toBe('on Living Room Light; on Floor Lamp')
  })

  it('has rooms, floors, groups and other names from the configuration', async () => {
    const { converse } = household(HOME, {
      rooms: { Nook: ['Switch One', 'Desk Lamp'] },
      floors: { upstairs: ['Bedroom', 'Bathroom'] },
      groups: { 'party lights': ['Porch Light', 'Floor Lamp'] },
      aliases: { 'Switch One': ['hoover'], 'Living Room': ['parlour'] },
    })
    const calls = async (said: string) => (await converse(said)).calls
    expect(await calls('turn on the hoover')).toBe('on Switch One')
    expect(await calls('turn off everything in the nook')).toBe('off Switch One; off Desk Lamp')
    expect(await calls('party lights on')).toBe('on Floor Lamp; on Porch Light')
    expect(await calls('turn off the parlour lights')).toBe('off Living Room Light; off Floor Lamp')
    expect(await calls('turn off all the lights upstairs')).toBe('off Bedroom Ceiling Light')
  })

  it('understands among 5,000 devices', () => {
    const kind = 'dimmer' as const
    const many = Array.from({ length: 5_000 }, (_, at) => ({
      name: `Lamp ${at}`,
      location: `Room ${at % 200}`,
      kind,
      value: 0,
    }))
    const { sentences, situation } = household([...HOME, ...many])
    expect(
      sentences.understand('trun on lamp 4711 and the tv', situation)?.steps[0]?.devices.map(({ id }) => id),
    ).toEqual(['Lamp 4711', 'TV'])
  })

  it('says its sentences as a graph of words, without free text', () => {
    const { sentences, situation } = household(HOME)
    const { rules } = sentences.graph(situation)
    const labels = new Set(rules.flatMap(({ arcs }) => arcs.flat().map(([label]) => label)))
    expect(labels).toContain('curtains')
    expect(labels).not.toContain('google')
    // "The curtains open" is not listened for: it sounds like "Are the curtains open?"
    const names = rules.filter(({ arcs }) => arcs.flat().some(([label]) => label === 'curtains'))
    expect(names.some(({ arcs }) => !arcs[0]?.some(([label]) => label === 'the'))).toBe(true)
    expect(sentences.graph(situation)).toBe(sentences.graph(situation))
  })
})

describe("Home Assistant's files", () => {
  it('work as they are: lists, rules, known intents, tools and responses', async () => {
    const folder = custom(`
language: en
intents:
  HassTurnOn:
    data:
      - sentences: ["let there be {name}"]
      - sentences: ["lumos in {area}"]
        slots: {domain: light}
  HassLightSet: {data: [{sentences: ["glow {name} {brightness}"]}]}
  Vacuum:
    data:
      - sentences: ["(hoover|vacuum) [<the>] {room} [[in|for] {time_span} minute[s]]"]
        tool: vacuum
        slots: {mode: fast}
        response: started
lists:
  room: {values: [kitchen, {in: "(lounge|living room)", out: living_room}]}
  time_span: {range: {from: 1, to: 60}}
expansion_rules: {the: "(the|my|our)"}
responses: {intents: {Vacuum: {started: "Cleaning {{ slots.room }}{% if slots.mode == 'fast' %} fast{% endif %}."}}}
`)
    const sentences = new Sentences({ folder })
    const vacuum = { name: 'vacuum' }
    expect(await ask('please vacuum my living room for ten minutes', [vacuum], sentences)).toEqual({
      args: [{ mode: 'fast', room: 'living_room', time_span: 10 }],
      text: 'Cleaning living_room fast.',
    })
    const { calls } = await household(HOME, { folder }).converse(
      'let there be TV, lumos in kitchen and glow desk lamp 40 %',
    )
    expect(calls).toBe('on TV; on Kitchen Ceiling Light; dim Desk Lamp 40')
  })

  it('with mistakes are left out, with file, line and column', () => {
    const folder = custom(`language: en
intents:
  Broken:
    data:
      - sentences: ["turn (on", "go <nowhere>", "fine"]
        tool: search
  None: [fine]
lists: {size: {range: {from: small}}}
`)
    expect(new Sentences({ folder }).problems({ tools: [search] })).toEqual([
      `${join(folder, 'en', 'own.yaml')}:8:15: a list needs values, a range (from, to) or a wildcard`,
      `${join(folder, 'en', 'own.yaml')}:5:27: the '(' is not closed`,
      `${join(folder, 'en', 'own.yaml')}:5:34: there is no rule <nowhere>`,
      `${join(folder, 'en', 'own.yaml')}:7:9: data has to be a list`,
    ])
  })
})
