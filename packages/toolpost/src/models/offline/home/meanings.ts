import type { Grammar, Reading } from '../grammar.ts'
import { keyOf, type Matched, type Meaning, mayChange, type PlannedCall } from '../meaning.ts'
import { phraseResults } from '../phrase-answer.ts'
import { nameTokens } from '../tokens.ts'
import { doubtAbout } from './doubt.ts'
import { checkMeaning, measureMeaning, roomsMeaning, whichMeaning } from './questions.ts'
import { isReference, type Reference } from './reference.ts'
import { stepMeaning } from './steps.ts'

/** What a meaning is made of. */
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
  check: checkMeaning,
  read: callMeaning,
  measure: measureMeaning,
  which: whichMeaning,
  which_are: whichMeaning,
  rooms: roomsMeaning,
}

/** One call for each device that was meant. */
function callMeaning({ grammar, reading, matched }: MeaningContext): Meaning | undefined {
  const { tool } = reading
  const args = inRoom(withoutExcepted(reading.args), grammar)
  const [name, reference] = referenceIn(args) ?? []
  if (name === undefined || !reference) return callsMeaning([{ tool, args }], matched)
  const doubt = doubtAbout(reference, matched, tool.readOnly === true)
  if (doubt) return doubt
  const calls = reference.devices.map(device => ({ tool, args: { ...args, [name]: device.call } }))
  return callsMeaning(calls, matched, reference.isAll ? reference.noun : undefined)
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
  const devices = deviceName.devices.filter(device => inside?.has(device))
  const isAll = deviceName.isAll || (deviceName.isBoth === true && devices.length === 2)
  return {
    ...args,
    deviceName: { ...deviceName, devices, isAll, unfit: devices.length > 0 ? [] : deviceName.devices },
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
