import { didYouMean, whatToDoWith } from '../asked-back.ts'
import type { Grammar, Reading } from '../grammar.ts'
import {
  keyOf,
  listWords,
  type Matched,
  type Meaning,
  mayChange,
  type PlannedCall,
  saying,
} from '../meaning.ts'
import { outOfRange } from '../out-of-range.ts'
import { phraseResults } from '../phrase-answer.ts'
import { nameTokens } from '../tokens.ts'
import { doubtAbout } from './doubt.ts'
import type { HomeDevice } from './home.ts'
import { checkMeaning, measureMeaning, roomsMeaning, scenesMeaning, whichMeaning } from './questions.ts'
import { isReference, type Reference } from './reference.ts'
import { stepMeaning } from './steps.ts'
import { toggleMeaning } from './toggle.ts'

/** What a meaning is made from. */
export interface MeaningContext {
  grammar: Grammar
  reading: Reading
  matched: Matched
}

/** What a reading means; `undefined` if it means nothing here. */
export function meaningOf(grammar: Grammar, reading: Reading): Meaning | undefined {
  const { sentence, score, longestFree } = reading
  const context = { grammar, reading, matched: { score, longestFree, template: sentence.template } }
  return (sentence.means === undefined ? callMeaning : MEANINGS[sentence.means])?.(context)
}

const MEANINGS: Readonly<Record<string, (context: MeaningContext) => Meaning | undefined>> = {
  step: stepMeaning,
  complaint: complaintMeaning,
  check: checkMeaning,
  read: callMeaning,
  toggle: toggleMeaning,
  terse: terseMeaning,
  wish: wishMeaning,
  named: namedMeaning,
  unmeasured: unmeasuredMeaning,
  measure: measureMeaning,
  which: whichMeaning,
  which_are: whichMeaning,
  rooms: roomsMeaning,
  scenes: scenesMeaning,
}

/** "It's too dark in here": a step, unless a command comes with it. */
function complaintMeaning(context: MeaningContext): Meaning | undefined {
  const { deviceName, room } = context.reading.args
  const inRoom = typeof room === 'string' ? context.grammar.home?.room(nameTokens(room))?.devices : undefined
  const about = isReference(deviceName) ? [...deviceName.devices, ...deviceName.unfit] : [...(inRoom ?? [])]
  const meaning = inRoom ? saying('talk', 'Nothing there can be dimmed.') : stepMeaning(context)
  return meaning && { ...meaning, about: about.map(({ call }) => call) }
}

/** One call per device. */
function callMeaning({ grammar, reading, matched }: MeaningContext): Meaning | undefined {
  const { tool } = reading
  const args = inRoom(withoutExcepted(reading.args), grammar)
  const [name, reference] = referenceIn(args) ?? []
  const doubt = reference && doubtAbout(reference, matched, tool.readOnly === true)
  const refused = doubt ?? outOfRange({ tool, args }, matched)
  if (refused) return refused
  if (name === undefined || !reference) return callsMeaning([{ tool, args }], matched)
  const calls = reference.devices.map(device => ({ tool, args: { ...args, [name]: device.call } }))
  const others = switched(reference, args).map(also => ({ tool, args: also }))
  return callsMeaning([...calls, ...others], matched, reference.isAll ? reference.noun : undefined)
}

/** Only a name: a sensor reports its readings; for anything else, ask what to do with it. */
function namedMeaning(context: MeaningContext): Meaning | undefined {
  const reference = context.reading.args.deviceName
  if (!isReference(reference)) return undefined
  const [only, ...others] = reference.devices
  if (reference.devices.every(({ kind }) => kind === 'sensor')) return callMeaning(context)
  return only && others.length === 0 ? saying('ask', whatToDoWith(only.call), context.matched) : undefined
}

/** "Off desk lamp"; "on tv" may be where something is shown. */
function terseMeaning(context: MeaningContext): Meaning | undefined {
  const reference = context.reading.args.deviceName
  const isOneWord = isReference(reference) && reference.devices.every(({ tokens }) => tokens.length === 1)
  return isOneWord ? wishMeaning(context) : callMeaning(context)
}

/** "The fan should be off": a wish, or what somebody believes. */
function wishMeaning(context: MeaningContext): Meaning | undefined {
  const { deviceName: reference, action, level } = context.reading.args
  const meaning = callMeaning(context)
  if (meaning?.kind !== 'act' || !isReference(reference)) return meaning
  const names = listWords(reference.devices.map(({ call }) => call))
  const wished = level === undefined ? `${names} ${action}` : `set ${names} to ${level} percent`
  return saying('ask', didYouMean(wished), context.matched)
}

/** "Reading light eighty": probably percent. */
function unmeasuredMeaning({ reading, matched }: MeaningContext): Meaning | undefined {
  const { deviceName: reference, level } = reading.args
  if (!isReference(reference)) return undefined
  const [only, ...others] = reference.devices
  if (!only || others.length > 0) return doubtAbout(reference, matched)
  return saying('ask', didYouMean(`${only.call} ${level} percent`), matched)
}

/** "All the lights on full": lights without a dimmer are switched instead. */
function switched({ isAll, noun, unfit }: Reference, { action, level }: Record<string, unknown>) {
  const isEnd = action === 'dim' && (level === 100 || level === 0)
  if (!isEnd || !isAll || noun !== 'lights') return []
  const lights = unfit.filter(({ kind }) => kind === 'switch')
  return lights.map(({ call }) => ({ deviceName: call, action: level === 100 ? 'on' : 'off' }))
}

/** "Everything off except the porch light". */
function withoutExcepted({ except, ...args }: Record<string, unknown>): Record<string, unknown> {
  const { deviceName } = args
  if (!isReference(except) || !isReference(deviceName)) return args
  const devices = deviceName.devices.filter(device => !except.devices.includes(device))
  return { ...args, deviceName: { ...deviceName, devices } }
}

/** "The light off *in the bedroom*". */
function inRoom({ room, ...args }: Record<string, unknown>, { home }: Grammar): Record<string, unknown> {
  const { deviceName } = args
  if (typeof room !== 'string' || !isReference(deviceName))
    return room === undefined ? args : { room, ...args }
  const inside = home?.room(nameTokens(room))?.devices
  const isInside = (device: HomeDevice) => inside?.has(device) === true
  const devices = deviceName.devices.filter(isInside)
  const isAll = deviceName.isAll || (deviceName.isBoth === true && devices.length === 2)
  return {
    ...args,
    deviceName: {
      ...deviceName,
      devices,
      isAll,
      unfit: devices.length > 0 ? [] : deviceName.unfit.filter(isInside),
    },
  }
}

function referenceIn(args: Record<string, unknown>): [string, Reference] | undefined {
  for (const [name, value] of Object.entries(args)) if (isReference(value)) return [name, value]
  return undefined
}

function callsMeaning(calls: readonly PlannedCall[], matched: Matched, noun?: string): Meaning {
  return {
    ...matched,
    kind: calls.some(mayChange) ? 'act' : 'tell',
    key: keyOf(calls),
    calls,
    run: async makeCalls => phraseResults(await makeCalls(calls), noun),
  }
}
