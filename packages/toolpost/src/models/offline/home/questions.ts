import type { ToolResult } from '../../../call/tool-result.ts'
import { readZwaveList, ZWAVE_LIST } from '../../../known-servers/zwave-home.ts'
import type { Grammar } from '../grammar.ts'
import { keyOf, listWords, type MakeCalls, type Meaning, saying } from '../meaning.ts'
import { phraseResults } from '../phrase-answer.ts'
import { nameTokens } from '../tokens.ts'
import { Home, type HomeDevice } from './home.ts'
import type { MeaningContext } from './meanings.ts'
import { isReference } from './reference.ts'
import { isInState, reportIn, statesIn } from './states.ts'

/** "Is the light on?": yes or no, and how it is. */
export function checkMeaning(context: MeaningContext): Meaning | undefined {
  const { reading, matched } = context
  const { deviceName: reference, state } = reading.args
  if (!isReference(reference)) return undefined
  const devices = [...reference.devices, ...reference.unfit]
  const fitting = devices.filter(device => canBe(device, String(state)))
  // Nobody asks whether a light is open.
  if (fitting.length === 0 && devices.every(({ kind = '' }) => STATES_OF[kind])) return undefined
  const meant = fitting.length > 0 ? fitting : devices
  const [only, ...others] = meant
  if (others.length > 0 || !only) return whichMeaning(context)
  const reads = [{ tool: reading.tool, args: { deviceName: only.call } }]
  return {
    ...matched,
    kind: 'tell',
    key: `${state}? ${keyOf(reads)}`,
    calls: reads,
    run: async makeCalls => {
      const [result] = await makeCalls(reads)
      return (result && sayWhether(result, String(state))) ?? phraseResults(result ? [result] : [])
    },
  }
}

/** A light is not locked, a door not dimmed: what is asked tells which one is meant. */
const STATES_OF: Readonly<Record<string, readonly string[]>> = {
  switch: ['on', 'off'],
  dimmer: ['on', 'off'],
  cover: ['open', 'closed'],
  lock: ['locked', 'unlocked'],
}

function canBe({ kind = '', state = '' }: HomeDevice, asked: string): boolean {
  const states = STATES_OF[kind]
  if (states) return states.includes(asked)
  return statesIn(state).some(({ text }) => isInState(text, asked) !== undefined)
}

function sayWhether(result: ToolResult, state: string): string | undefined {
  const report = reportIn(result)
  const found = report?.readings.find(({ text }) => isInState(text, state) !== undefined)
  if (!report?.isLive || !found) return undefined
  return `${isInState(found.text, state) ? 'Yes' : 'No'}, ${report.device} is ${found.text}.`
}

/** "Which lights are on?", "Is anything open?", "How many windows are there?" */
export function whichMeaning({ grammar, reading, matched }: MeaningContext): Meaning | undefined {
  const tool = grammar.tool(ZWAVE_LIST.tool)
  const { args, sentence } = reading
  if (!tool) return undefined
  const reads = [{ tool, args: {} }]
  const reference = isReference(args.deviceName) ? args.deviceName : undefined
  const state = typeof args.state === 'string' ? args.state : undefined
  const room = typeof args.room === 'string' ? args.room : undefined
  const asked = reference && [...reference.devices, ...reference.unfit].map(({ call }) => call)
  const question = { state, room, asked, noun: reference?.noun ?? 'devices' }
  const wantsYes = !/^\((what|which|show)|^what|^how/.test(sentence.template)
  return {
    ...matched,
    kind: 'tell',
    key: `${JSON.stringify(question)} ${wantsYes ? '?' : ''} ${keyOf(reads)}`,
    calls: reads,
    run: async makeCalls => answerWhich(makeCalls, reads, { ...question, wantsYes, grammar }),
  }
}

interface WhichQuestion {
  state: string | undefined
  room: string | undefined
  /** The devices that it is about; all if left out. */
  asked: readonly string[] | undefined
  noun: string
  /** Whether it begins with yes or no. */
  wantsYes: boolean
  grammar: Grammar
}

async function answerWhich(
  makeCalls: MakeCalls,
  reads: Meaning['calls'],
  question: WhichQuestion,
): Promise<string> {
  const { state, wantsYes, noun } = question
  const [result] = await makeCalls(reads)
  const listed = result && devicesNow(result, question)
  const devices = state === undefined ? listed : listed?.filter(device => canBe(device, state))
  if (!devices) return phraseResults(result ? [result] : [])
  if (state === undefined) return sayThereAre(devices, noun)
  const such = devices.filter(device =>
    statesIn(device.state ?? '').some(({ text }) => isInState(text, state)),
  )
  const [only, ...others] = devices
  if (such.length === 0 && only && others.length === 0)
    return `${wantsYes ? 'No, ' : ''}${only.call} is ${only.state || `not ${state}`}.`
  if (such.length === 0)
    return `${wantsYes ? 'No, none' : 'None'} of ${sayAsked(devices, noun)} are ${state}.`
  const all = such.length === devices.length && devices.length > 2 ? `all ${devices.length} ${noun}: ` : ''
  const names = `${all}${listWords(such.map(({ call }) => call))}`
  return `${wantsYes ? 'Yes, ' : ''}${names} ${such.length === 1 ? 'is' : 'are'} ${state}.`
}

function sayAsked(devices: readonly HomeDevice[], noun: string): string {
  return devices.length > 0 && devices.length <= 2
    ? listWords(devices.map(({ call }) => call))
    : `the ${noun}`
}

function sayThereAre(devices: readonly HomeDevice[], noun: string): string {
  if (devices.length === 0) return `There are no ${noun}.`
  const names = listWords(devices.map(({ call }) => call))
  return devices.length === 1 ? `There is one: ${names}.` : `There are ${devices.length} ${noun}: ${names}.`
}

/** The devices that are asked about, as they are now. */
function devicesNow(result: ToolResult, { asked, room, grammar }: WhichQuestion): HomeDevice[] | undefined {
  const listed = result.success ? readZwaveList(result.result) : undefined
  if (!listed || !grammar.home) return undefined
  const home = new Home(listed, grammar.home.written)
  const inRoom = room === undefined ? undefined : home.room(nameTokens(room))?.devices
  return home.devices.filter(
    device => (!asked || asked.includes(device.call)) && (room === undefined || inRoom?.has(device)),
  )
}

/** "How warm is it in the bedroom?" */
export function measureMeaning({ grammar, reading, matched }: MeaningContext): Meaning | undefined {
  const { tool, args } = reading
  const what = String(args.what)
  const room = typeof args.room === 'string' ? args.room : undefined
  const measuring = (grammar.home?.devices ?? []).filter(device => !device.isDead && measures(device, what))
  const inRoom = room === undefined ? undefined : grammar.home?.room(nameTokens(room))?.devices
  const there = room === undefined ? measuring : measuring.filter(device => inRoom?.has(device))
  if (there.length === 0) {
    const where = room === undefined ? 'here' : `in the ${room.toLowerCase()}`
    return saying('talk', `Nothing measures the ${what} ${where}.`, matched)
  }
  const sensors = there.filter(({ kind }) => kind === 'sensor')
  const reads = (sensors.length > 0 ? sensors : there)
    .slice(0, MAX_SENSORS)
    .map(({ call }) => ({ tool, args: { deviceName: call } }))
  return {
    ...matched,
    kind: 'tell',
    key: `${what} ${keyOf(reads)}`,
    calls: reads,
    run: async makeCalls => {
      const results = await makeCalls(reads)
      return sayMeasured(results, what) ?? phraseResults(results)
    },
  }
}

const MAX_SENSORS = 5

/** What a sensor is for, by its name or what it reports. */
const SENSES: Readonly<Record<string, RegExp>> = {
  motion: /motion|movement|occupancy|presence/,
  water: /water|leak|flood|moisture/,
  smoke: /smoke|fire/,
  gas: /gas|carbon|monoxide/,
}

function measures({ name, kind, state = '' }: HomeDevice, what: string): boolean {
  const senses = SENSES[what]
  if (senses) return kind === 'sensor' && senses.test(`${name} ${state}`.toLowerCase())
  return statesIn(state).some(part => {
    const said = part.name ?? name.toLowerCase()
    if (what === 'temperature') return /°[CF]$/.test(part.text) && !/setpoint|set to/.test(said)
    return (
      /%$/.test(part.text) &&
      /humid|hygro|moisture/.test(`${said} ${name.toLowerCase()}`) &&
      kind !== 'dimmer'
    )
  })
}

function sayMeasured(results: readonly ToolResult[], what: string): string | undefined {
  if (SENSES[what]) return undefined
  const found = results.flatMap(result => {
    const report = reportIn(result)
    const reading = report?.readings.find(({ name, unit }) =>
      what === 'temperature'
        ? /^°[CF]$/.test(unit ?? '') && !name.includes('setpoint')
        : name.includes('humid'),
    )
    return report?.isLive && reading ? [{ device: report.device, text: reading.text }] : []
  })
  const [only, ...others] = found
  if (!only || found.length < results.length) return undefined
  if (others.length === 0)
    return what === 'temperature' ? `It is ${only.text}.` : `The humidity is ${only.text}.`
  return `${found.map(({ device, text }) => `${device}: ${text}`).join(', ')}.`
}

export function roomsMeaning({ grammar, matched }: MeaningContext): Meaning {
  const rooms = [...new Set([...(grammar.home?.rooms() ?? [])].map(([, { name }]) => name))]
  const text = rooms.length > 0 ? `I know ${listWords(rooms)}.` : 'I know no rooms.'
  return saying('talk', text, matched)
}
