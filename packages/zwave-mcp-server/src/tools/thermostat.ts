import { type Device, fullName } from '../zwave/device.ts'
import { type DeviceValue, describeReading, THERMOSTAT_MODES } from '../zwave/values.ts'
import { type Order, sendOrder } from './control.ts'
import { deviceToCommand, type Found, whyUnreachable } from './find-device.ts'
import { type Arguments, answer, deviceFields, listWords, type RunTool, refuse } from './tool.ts'

/** One thermostat value to set; `done` is its phrase for the answer: "heat", "21 °C". */
interface Step extends Order {
  readonly done: string
}

/** A mode and its setpoint share a number, except auto, which uses that of auto changeover. */
const SETPOINT_OF_AUTO = '10'
/** A sensible range for a home, if the thermostat does not report its own. */
const USUAL_RANGE = { celsius: [5, 35], fahrenheit: [40, 95] } as const

/** `set_thermostat`: sets a thermostat's target temperature, its mode, or both. */
export const setThermostat: RunTool = async (args, context) => {
  if (args.temperature === undefined && args.mode === undefined)
    return refuse('set_thermostat needs a temperature, a mode or both.')
  const found = await deviceToCommand(context.network, String(args.deviceName), 'thermostat')
  if (typeof found === 'string') return refuse(found)
  const steps = plan(found, args)
  const problem = typeof steps === 'string' ? steps : whyUnreachable(context.network, found.device)
  if (typeof steps === 'string' || problem) return refuse(String(problem))
  const done: string[] = []
  const say = (more?: string) =>
    [done.length > 0 && `${found.name} is set to ${listWords(done)}.`, more].filter(Boolean).join(' ')
  let missed: string | undefined
  for (const { done: phrase, ...order } of steps) {
    const outcome = await sendOrder(context, found, order)
    if ('failure' in outcome) return refuse(say(outcome.failure))
    if (outcome.missed) missed ??= outcome.missed
    else done.push(phrase)
  }
  const setpoint = steps.map(({ state }) => state).find(({ key }) => key !== undefined)
  return answer(say(missed), {
    ...deviceFields(found.device),
    temperature: args.temperature ?? null,
    unit: setpoint ? rangeOf(setpoint).unit : null,
    mode: args.mode ?? null,
    confirmed: !missed,
  })
}

/** The steps in order, or the reason why they cannot be carried out. */
function plan({ device, endpoint }: Found, { temperature, mode }: Arguments): Step[] | string {
  const valuesOf = (className: string) =>
    device.values.filter(
      value =>
        value.commandClass === className &&
        describeReading(value) &&
        (endpoint === undefined || value.endpoint === endpoint),
    )
  const setpoints = valuesOf('thermostat_setpoint')
  const [modeValue] = valuesOf('thermostat_mode')
  if (setpoints.length === 0 && !modeValue) return `${fullName(device)} is not a thermostat.`
  const wantedMode = mode === undefined ? modeValue?.value : modeNumber(String(mode))
  const steps = [
    mode !== undefined && planMode(device, modeValue, String(mode)),
    temperature !== undefined &&
      planTemperature(device, setpoints, { mode: wantedMode, temperature: Number(temperature) }),
  ].filter(step => step !== false)
  return steps.find(step => typeof step === 'string') ?? (steps as Step[])
}

function planMode(device: Device, state: DeviceValue | undefined, mode: string): Step | string {
  const value = modeNumber(mode)
  if (!state || value === undefined)
    return `${fullName(device)} has no modes; only its temperature can be set.`
  if (!state.choices || state.choices.includes(value)) return makeStep(state, value, sayMode)
  return `${fullName(device)} has no mode ${mode}; expected one of ${listWords(state.choices.map(sayMode), 'or')}.`
}

function planTemperature(
  device: Device,
  setpoints: readonly DeviceValue[],
  { mode, temperature }: { mode: unknown; temperature: number },
): Step | string {
  const wanted = mode === modeNumber('auto') ? SETPOINT_OF_AUTO : String(mode)
  const only = setpoints.length === 1 ? setpoints[0] : undefined
  const state = setpoints.find(({ key }) => key === wanted) ?? only
  if (!state) {
    const names = setpoints.map(setpoint => describeReading(setpoint)?.name ?? '')
    const which =
      names.length > 0 ? `It has several: ${listWords(names)}. Give the mode too.` : 'It has no setpoint.'
    return `It is unclear which temperature of ${fullName(device)} to set. ${which}`
  }
  const { min, max, unit } = rangeOf(state)
  return temperature < min || temperature > max
    ? `${fullName(device)} accepts ${min} to ${max} ${unit}, not ${temperature}. Nothing was sent.`
    : makeStep(state, temperature, degrees => `${degrees} ${unit}`)
}

function makeStep(state: DeviceValue, value: number, say: (value: number) => string): Step {
  return {
    state,
    target: state.property,
    value,
    accepts: reported => reported === value,
    command: `"${say(value)}"`,
    say: reported => `set to ${say(Number(reported))}`,
    done: say(value),
  }
}

function sayMode(mode: number): string {
  return THERMOSTAT_MODES[mode] ?? `mode ${mode}`
}

function modeNumber(mode: string): number | undefined {
  const known = Object.entries(THERMOSTAT_MODES).find(([, word]) => word === mode)
  return known && Number(known[0])
}

/** The lowest and highest temperature that a setpoint accepts, in its own unit. */
function rangeOf({ unit = '°C', min, max }: DeviceValue): { min: number; max: number; unit: string } {
  const [low, high] = /F/.test(unit) ? USUAL_RANGE.fahrenheit : USUAL_RANGE.celsius
  return { min: min ?? low, max: max ?? high, unit }
}
