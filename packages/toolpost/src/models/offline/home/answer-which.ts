import type { ToolResult } from '../../../call/tool-result.ts'
import type { Grammar } from '../grammar.ts'
import { listWords, type MakeCalls, type Meaning } from '../meaning.ts'
import { phraseResults } from '../phrase-answer.ts'
import { nameTokens } from '../tokens.ts'
import { readZwaveList } from '../zwave.ts'
import { Home, type HomeDevice } from './home.ts'
import { isInState, oppositeOf, statesIn } from './states.ts'

/** Lights are never locked and doors never dimmed, so the state asked about narrows down the devices. */
export const STATES_OF: Readonly<Record<string, readonly string[]>> = {
  switch: ['on', 'off'],
  dimmer: ['on', 'off'],
  cover: ['open', 'closed'],
  lock: ['locked', 'unlocked'],
}

export function canBe({ kind = '', state = '' }: HomeDevice, asked: string): boolean {
  const states = STATES_OF[kind]
  if (states) return states.includes(asked)
  return statesIn(state).some(({ text }) => isInState(text, asked) !== undefined)
}

interface WhichQuestion {
  state: string | undefined
  room: string | undefined
  /** The devices asked about; all if `undefined`. */
  asked: readonly string[] | undefined
  noun: string
  /** Whether the answer begins with yes or no. */
  wantsYes: boolean
  /** Whether a single device in another state makes it a no. */
  wantsAll: boolean
  /** Whether the answer is a number. */
  wantsCount: boolean
  grammar: Grammar
}

export async function answerWhich(
  makeCalls: MakeCalls,
  reads: Meaning['calls'],
  question: WhichQuestion,
): Promise<string> {
  const { state, wantsYes, wantsAll, noun } = question
  const [result] = await makeCalls(reads)
  const listed = result && devicesNow(result, question)
  const devices = state === undefined ? listed : listed?.filter(device => canBe(device, state))
  if (!devices) return phraseResults(result ? [result] : [])
  if (state === undefined) return sayThereAre(devices, noun)
  const such = devices.filter(device =>
    statesIn(device.state ?? '').some(({ text }) => isInState(text, state)),
  )
  if (question.wantsCount && devices.length > 1) return sayCount(such, devices, { state, noun })
  const [only, ...others] = devices
  if (such.length === 0 && only && others.length === 0)
    return `${wantsYes ? 'No, ' : ''}${only.call} is ${only.state || `not ${state}`}.`
  if (such.length === 0) return sayNone(devices, question)
  if (wantsAll && such.length < devices.length) return sayNotAll(devices, state, noun)
  const all = such.length === devices.length && devices.length > 2 ? `all ${devices.length} ${noun}: ` : ''
  const names = `${all}${listWords(such.map(({ call }) => call))}`
  return `${wantsYes ? 'Yes, ' : ''}${names} ${such.length === 1 ? 'is' : 'are'} ${state}.`
}

/** "2 of 5 lights are on: …" */
function sayCount(
  such: readonly HomeDevice[],
  devices: readonly HomeDevice[],
  { state, noun }: { state: string; noun: string },
): string {
  const names =
    such.length > 0 && such.length <= MAX_NAMED ? `: ${listWords(such.map(({ call }) => call))}` : ''
  const count = such.length === 0 ? 'None' : String(such.length)
  return `${count} of ${devices.length} ${noun} ${such.length === 1 ? 'is' : 'are'} ${state}${names}.`
}

const MAX_NAMED = 5

/** "No, the back door is unlocked": which of several devices are not in the state asked about. */
function sayNotAll(devices: readonly HomeDevice[], state: string, noun: string): string {
  const states = devices.map(device => ({ device, is: isAs(device, state) }))
  const others = states.filter(({ is }) => is === false).map(({ device }) => device.call)
  const opposite = oppositeOf(state)
  if (others.length === 0) {
    const unknown = states.filter(({ is }) => is === undefined).map(({ device }) => device.call)
    return `I do not know whether ${listWords(unknown)} ${unknown.length === 1 ? 'is' : 'are'} ${state}.`
  }
  if (others.length > MAX_NAMED) return `No, ${others.length} of ${devices.length} ${noun} are ${opposite}.`
  return `No, ${listWords(others)} ${others.length === 1 ? 'is' : 'are'} ${opposite}.`
}

/** Whether a device is in a state; `undefined` if unknown. */
function isAs({ state = '' }: HomeDevice, asked: string): boolean | undefined {
  return statesIn(state)
    .map(({ text }) => isInState(text, asked))
    .find(is => is !== undefined)
}

function sayNone(devices: readonly HomeDevice[], { wantsYes, noun, state }: WhichQuestion): string {
  const [first, second, ...others] = devices
  if (first && second && others.length === 0)
    return `${wantsYes ? 'No, neither' : 'Neither'} ${first.call} nor ${second.call} is ${state}.`
  return `${wantsYes ? 'No, none' : 'None'} of the ${noun} are ${state}.`
}

function sayThereAre(devices: readonly HomeDevice[], noun: string): string {
  if (devices.length === 0) return `There are no ${noun}.`
  const names = listWords(devices.map(({ call }) => call))
  return devices.length === 1 ? `There is one: ${names}.` : `There are ${devices.length} ${noun}: ${names}.`
}

/** The devices asked about, in their current state. */
function devicesNow(result: ToolResult, { asked, room, grammar }: WhichQuestion): HomeDevice[] | undefined {
  const listed = result.success ? readZwaveList(result.result) : undefined
  if (!listed || !grammar.home) return undefined
  const home = new Home(listed, grammar.home.written)
  const inRoom = room === undefined ? undefined : home.room(nameTokens(room))?.devices
  return home.devices.filter(
    device => (!asked || asked.includes(device.call)) && (room === undefined || inRoom?.has(device)),
  )
}
