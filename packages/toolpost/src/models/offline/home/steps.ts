import type { ToolResult } from '../../../call/tool-result.ts'
import { didYouMean } from '../asked-back.ts'
import { keyOf, listWords, type Meaning, type PlannedCall, saying } from '../meaning.ts'
import { phraseResults } from '../phrase-answer.ts'
import { doubtAbout } from './doubt.ts'
import type { MeaningContext } from './meanings.ts'
import { isReference } from './reference.ts'
import { reportIn } from './states.ts'

/** The default sizes of a step, and its limits. */
interface Scale {
  usual: number
  small: number
  large: number
  /** The lowest level for a step of unspecified size, so that it does not turn the device off. */
  least: number
  min: number
  max: number
}

const PERCENT: Scale = { usual: 20, small: 10, large: 40, least: 5, min: 0, max: 100 }
const DEGREES: Scale = { usual: 1, small: 0.5, large: 3, least: -50, min: -50, max: 100 }
/** Nobody wants it warmer by more than this: "turn it up 22 degrees" means to 22. */
const MAX_DEGREES = 10
const VOLUME: Scale = { usual: 10, small: 5, large: 25, least: 0, min: 0, max: 100 }

/** "Brighter", "warmer", "louder": one step from the current state. */
export function stepMeaning({ grammar, reading, matched }: MeaningContext): Meaning | undefined {
  const { tool, args } = reading
  const isUp = args.direction === 'up'
  if (!isReference(args.deviceName)) return volumeStep({ grammar, reading, matched })
  const doubt = doubtAbout(args.deviceName, matched)
  if (doubt) return doubt
  const reader = grammar.tool('get_device_sensor_data')
  if (!reader) return undefined
  const isHeat = args.deviceName.devices.every(({ kind }) => kind === 'thermostat')
  const names = args.deviceName.devices.map(({ call }) => call)
  if (isHeat && Number(args.amount) > MAX_DEGREES)
    return saying('ask', didYouMean(`set ${listWords(names)} to ${args.amount} degrees`), matched)
  const reads = names.map(deviceName => ({ tool: reader, args: { deviceName } }))
  return {
    ...matched,
    kind: 'act',
    key: keyOfStep(args, reads),
    calls: reads,
    run: async makeCalls => {
      const results = await makeCalls(reads)
      const steps = results.map((result, at): PlannedCall | undefined => {
        const level = levelIn(result, isHeat)
        if (level === undefined) return undefined
        const next = stepped(level, isUp, { scale: isHeat ? DEGREES : PERCENT, args })
        const deviceName = names[at]
        return {
          tool,
          args: isHeat ? { deviceName, temperature: next } : { deviceName, action: 'dim', level: next },
        }
      })
      const calls = steps.filter(step => step !== undefined)
      const unread = results.filter((_, at) => steps[at] === undefined)
      return phraseResults([...unread, ...(await makeCalls(calls))])
    },
  }
}

function volumeStep({ reading, matched }: MeaningContext): Meaning {
  const { tool, args } = reading
  const reads = [{ tool, args: { action: 'get' } }]
  return {
    ...matched,
    kind: 'act',
    key: keyOfStep(args, reads),
    calls: reads,
    run: async makeCalls => {
      const [result] = await makeCalls(reads)
      const { level } = Object(result?.success && result.result) as { level?: unknown }
      if (typeof level !== 'number') return phraseResults(result ? [result] : [])
      const next = stepped(level, args.direction === 'up', { scale: VOLUME, args })
      return phraseResults(await makeCalls([{ tool, args: { action: 'set', level: next } }]))
    },
  }
}

function keyOfStep(
  { direction, factor, amount, size }: Record<string, unknown>,
  reads: readonly PlannedCall[],
): string {
  return `step ${direction ?? factor} ${amount ?? size ?? ''}: ${keyOf(reads)}`
}

function stepped(
  from: number,
  isUp: boolean,
  { scale, args }: { scale: Scale; args: Record<string, unknown> },
): number {
  const { usual, small, large, least, min, max } = scale
  const told = args.amount === undefined ? undefined : Number(args.amount)
  const step = told ?? (args.size === 'small' ? small : args.size === 'large' ? large : usual)
  const factor = Number(args.factor ?? 1)
  // Twice nothing would be nothing.
  const isFromNothing = from === 0 && factor > 1
  const next = factor === 1 || isFromNothing ? from + (isUp || isFromNothing ? step : -step) : from * factor
  const floor = told === undefined ? Math.min(from, least) : min
  return Math.round(Math.min(max, Math.max(floor, next)) * 10) / 10
}

/** The level of a dimmer, the position of a blind, or the setpoint of a thermostat. */
function levelIn(result: ToolResult, isHeat: boolean): number | undefined {
  const readings = reportIn(result)?.readings ?? []
  const found = isHeat
    ? readings.find(({ name }) => name.includes('setpoint'))
    : readings.find(({ name, unit }) => unit === '%' && /^(dimmer|cover)/.test(name))
  return typeof found?.value === 'number' ? found.value : undefined
}
