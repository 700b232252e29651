import { fullName } from '../zwave/device.ts'
import { type DeviceValue, describeReading, THERMOSTAT_MODES } from '../zwave/values.ts'
import { type Order, sendOrder } from './control.ts'
import { deviceToCommand } from './find-device.ts'
import { answer, deviceFields, listWords, type RunTool, refuse } from './tool.ts'

/** One thermostat value to set; `done` is its phrase for the answer: "heat", "21 °C". */
type Step = Order & { readonly done: string }

/** A mode and its setpoint share a number, except auto, which uses that of auto changeover. */
const SETPOINT_OF_AUTO = '10'
/** A sensible range for a home, if the thermostat does not report its own. */
const USUAL_RANGE = { celsius: [5, 35], fahrenheit: [40, 95] } as const

/** `set_thermostat`: sets a thermostat's target temperature, its mode, or both. */
export const setThermostat: RunTool = async (args, context) => {
  const { deviceName, temperature, mode } = args
  if (temperature === undefined && mode === undefined)
    return refuse('set_thermostat needs a temperature, a mode or both.')
  const found = await deviceToCommand(context.network, String(deviceName), 'thermostat')
  if (typeof found === 'string') return refuse(found)
  const { device, endpoint } = found
  const name = fullName(device)
  const own = device.values.filter(value => endpoint === undefined || value.endpoint === endpoint)
  const setpoints = own.filter(
    value => value.commandClass === 'thermostat_setpoint' && describeReading(value),
  )
  const modeValue = own.find(value => value.commandClass === 'thermostat_mode' && describeReading(value))
  if (setpoints.length === 0 && !modeValue) return refuse(`${name} is not a thermostat.`)
  const wantedMode = mode === undefined ? modeValue?.value : modeNumber(String(mode))
  const planned = [
    mode !== undefined && planMode(name, modeValue, String(mode)),
    temperature !== undefined && planTemperature(name, setpoints, wantedMode, Number(temperature)),
  ]
  const problem = planned.find(step => typeof step === 'string')
  if (problem) return refuse(problem)
  const done: string[] = []
  const say = (more?: string) =>
    [done.length > 0 && `${found.name} is set to ${listWords(done)}.`, more].filter(Boolean).join(' ')
  const steps = planned.filter(step => typeof step === 'object')
  let missed: string | undefined
  for (const { done: phrase, ...order } of steps) {
    const outcome = await sendOrder(context, found, order)
    if ('failure' in outcome) return refuse(say(outcome.failure))
    if (outcome.missed) missed ??= outcome.missed
    else done.push(phrase)
  }
  const setpoint = steps.map(({ state }) => state).find(({ key }) => key !== undefined)
  const unit = setpoint ? rangeOf(setpoint).unit : null
  // A temperature alone does not turn it on.
  const isOff = mode === undefined && modeValue?.value === modeNumber('off')
  const asked = { temperature: temperature ?? null, unit, mode: mode ?? (isOff ? 'off' : null) }
  const hint = isOff ? 'It is off: nothing happens until its mode is set.' : undefined
  return answer(say(missed ?? hint), { ...deviceFields(device), ...asked, confirmed: !missed })
}

/** What to send, or the reason why it cannot be done. */
function planMode(name: string, state: DeviceValue | undefined, mode: string): Step | string {
  const value = modeNumber(mode)
  if (!state || value === undefined) return `${name} has no modes; only its temperature can be set.`
  if (!state.choices || state.choices.includes(value)) return makeStep(state, value, sayMode)
  return `${name} has no mode ${mode}; expected one of ${listWords(state.choices.map(sayMode), 'or')}.`
}

function planTemperature(
  name: string,
  setpoints: readonly DeviceValue[],
  mode: unknown,
  temperature: number,
): Step | string {
  const wanted = mode === modeNumber('auto') ? SETPOINT_OF_AUTO : String(mode)
  const only = setpoints.length === 1 ? setpoints[0] : undefined
  const state = setpoints.find(({ key }) => key === wanted) ?? only
  if (!state) {
    const names = listWords(setpoints.map(setpoint => describeReading(setpoint)?.name ?? ''))
    const which = names ? `It has several: ${names}. Give the mode too.` : 'It has no setpoint.'
    return `It is unclear which temperature of ${name} to set. ${which}`
  }
  const { min, max, unit } = rangeOf(state)
  if (temperature >= min && temperature <= max)
    return makeStep(state, temperature, degrees => `${degrees} ${unit}`)
  return `${name} accepts ${min} to ${max} ${unit}, not ${temperature}. Nothing was sent.`
}

function makeStep(state: DeviceValue, value: number, sayValue: (value: number) => string): Step {
  const accepts = (reported: unknown) => reported === value
  const say = (reported: unknown) => `set to ${sayValue(Number(reported))}`
  const done = sayValue(value)
  return { state, target: state.property, value, accepts, command: `"${done}"`, say, done }
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
