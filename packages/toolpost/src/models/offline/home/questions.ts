import type { ToolResult } from '../../../call/tool-result.ts'
import { keyOf, listWords, type Meaning, saying } from '../meaning.ts'
import { phraseResults } from '../phrase-answer.ts'
import { nameTokens } from '../tokens.ts'
import { readZwaveList, ZWAVE_LIST } from '../zwave.ts'
import { answerWhich, canBe, STATES_OF } from './answer-which.ts'
import type { HomeDevice } from './home.ts'
import type { MeaningContext } from './meanings.ts'
import { isReference } from './reference.ts'
import { isInState, reportIn, statesIn } from './states.ts'

/** "Is the light on?": yes or no, and its state. */
export function checkMeaning(context: MeaningContext): Meaning | undefined {
  const { reading, matched } = context
  const { deviceName: reference, state } = reading.args
  if (!isReference(reference)) return undefined
  const devices = [...reference.devices, ...reference.unfit]
  const fitting = devices.filter(device => canBe(device, String(state)))
  // "Is the light open?": it has no such state. A door with a lock answers whether it is locked.
  if (fitting.length === 0 && devices.every(({ kind = '' }) => STATES_OF[kind] && kind !== 'lock'))
    return devices.length === 1
      ? saying('talk', `${listWords(devices.map(({ call }) => call))} cannot be ${state}.`, matched)
      : undefined
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

function sayWhether(result: ToolResult, state: string): string | undefined {
  const report = reportIn(result)
  const found = report?.readings.find(({ text }) => isInState(text, state) !== undefined)
  if (!report?.isLive || !found) return undefined
  return `${isInState(found.text, state) ? 'Yes' : 'No'}, ${report.device} is ${found.text}.`
}

/** "Is anything open?", "did I leave the lights on?": yes if one of them is. */
const ANY_OF_THEM = /\bany\b|\bsome\b|anything|\bthere\b|\(leave|\bleft \[/
/** "Are the doors locked?" is about the one that may not be. */
const SAFE = new Set(['off', 'closed', 'locked'])

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
  const wantsCount = /^how many/.test(sentence.template)
  const question = { state, room, asked, noun: reference?.noun ?? 'devices', wantsCount }
  const wantsYes = !/^\((what|which|show)|^what|^how/.test(sentence.template)
  const wantsAll =
    wantsYes && !ANY_OF_THEM.test(sentence.template) && (SAFE.has(state ?? '') || reference?.isEvery === true)
  return {
    ...matched,
    kind: 'tell',
    key: `${JSON.stringify(question)} ${wantsYes ? '?' : ''}${wantsAll ? '!' : ''} ${keyOf(reads)}`,
    calls: reads,
    run: async makeCalls => answerWhich(makeCalls, reads, { ...question, wantsYes, wantsAll, grammar }),
  }
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

/** What a sensor is for, by its name or its reports. */
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

/** "Which scenes are there?" */
export function scenesMeaning({ reading, matched }: MeaningContext): Meaning {
  const reads = [{ tool: reading.tool, args: {} }]
  return {
    ...matched,
    kind: 'tell',
    key: `scenes ${keyOf(reads)}`,
    calls: reads,
    run: async makeCalls => {
      const [result] = await makeCalls(reads)
      const scenes = result?.success ? readZwaveList(result.result)?.scenes : undefined
      return scenes ? sayScenes(scenes) : phraseResults(result ? [result] : [])
    },
  }
}

function sayScenes(scenes: readonly string[]): string {
  if (scenes.length === 0) return 'There are no scenes.'
  const names = listWords(scenes)
  return scenes.length === 1
    ? `There is one scene: ${names}.`
    : `There are ${scenes.length} scenes: ${names}.`
}

export function roomsMeaning({ grammar, matched }: MeaningContext): Meaning {
  const rooms = [...new Set([...(grammar.home?.rooms() ?? [])].map(([, { name }]) => name))]
  const text = rooms.length > 0 ? `I know ${listWords(rooms)}.` : 'I do not know any rooms.'
  return saying('talk', text, matched)
}
