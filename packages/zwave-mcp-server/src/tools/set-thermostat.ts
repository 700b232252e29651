import { type Device, type DeviceValue, fullName } from '../zwave/device.ts'
import {
  MODES,
  meantSetpoint,
  modeOf,
  rangeOf,
  sayMode,
  setpointName,
  setpointsOf,
} from '../zwave/thermostat.ts'
import {
  type Commandable,
  carryOut,
  deviceFields,
  deviceOfKind,
  type Order,
  whyUnreachable,
} from './command-device.ts'
import { DEVICE_NAME } from './control-device.ts'
import {
  type Arguments,
  answer,
  FIELDS,
  fields,
  listWords,
  refuse,
  SETS,
  type ToolContext,
  takes,
  type ZwaveTool,
} from './tool.ts'

/** One thermostat value to set; `done` is its phrase for the answer: "heat", "21 °C". */
interface Step {
  readonly order: Order
  readonly done: string
}

/** `set_thermostat`: sets a thermostat's target temperature, its mode, or both. */
export const setThermostat: ZwaveTool = {
  definition: {
    name: 'set_thermostat',
    title: 'Set a thermostat',
    description:
      'Sets the target temperature of a Z-Wave thermostat, its mode, or both, and waits for its report. The temperature ' +
      "is in the thermostat's own unit, which get_device_sensor_data shows. It applies to the given or the active mode.",
    inputSchema: takes(
      {
        deviceName: { ...DEVICE_NAME, description: 'The name of the thermostat, e.g. "Hallway Thermostat".' },
        temperature: {
          type: 'number',
          description: "The target temperature, in the thermostat's own unit.",
        },
        mode: { type: 'string', enum: Object.keys(MODES), description: 'The mode to change to.' },
      },
      ['deviceName'],
    ),
    outputSchema: fields({
      ...FIELDS.device,
      temperature: FIELDS.numberOrNull,
      unit: FIELDS.textOrNull,
      mode: FIELDS.textOrNull,
      confirmed: { ...FIELDS.boolean, description: 'Whether the thermostat itself reported every change.' },
    }),
    annotations: SETS,
  },

  async run(args, context) {
    if (args.temperature === undefined && args.mode === undefined)
      return refuse('set_thermostat needs a temperature, a mode or both.')
    const picked = await deviceOfKind(context, String(args.deviceName), 'thermostat')
    if (typeof picked === 'string') return refuse(picked)
    const steps = plan(picked, args)
    if (typeof steps === 'string') return refuse(steps)
    const unreachable = whyUnreachable(context.network, picked.device)
    return unreachable ? refuse(unreachable) : set(context, picked, { steps, args })
  },
}

/** The steps in order, or the reason why they cannot be carried out. */
function plan({ device, endpoint }: Commandable, { temperature, mode }: Arguments): Step[] | string {
  const setpoints = setpointsOf(device, endpoint)
  const modeValue = modeOf(device, endpoint)
  if (setpoints.length === 0 && !modeValue) return `${fullName(device)} is not a thermostat.`
  const modeStep = mode === undefined ? undefined : planMode(device, modeValue, String(mode))
  if (typeof modeStep === 'string') return modeStep
  const wantedMode = mode === undefined ? modeValue?.value : MODES[String(mode)]
  const temperatureStep =
    temperature === undefined
      ? undefined
      : planTemperature(device, meantSetpoint(setpoints, wantedMode), Number(temperature))
  if (typeof temperatureStep === 'string') return temperatureStep
  return [modeStep, temperatureStep].filter(step => step !== undefined)
}

function planMode(device: Device, state: DeviceValue | undefined, mode: string): Step | string {
  const value = MODES[mode]
  if (!state || value === undefined)
    return `${fullName(device)} has no modes; only its temperature can be set.`
  if (!state.choices || state.choices.includes(value)) return makeStep(state, value, sayMode)
  const modes = listWords(state.choices.map(sayMode), 'or')
  return `${fullName(device)} has no mode ${mode}; expected one of ${modes}.`
}

function planTemperature(device: Device, state: DeviceValue | undefined, value: number): Step | string {
  if (!state) {
    const names = setpointsOf(device).map(setpointName)
    const which =
      names.length > 0 ? `It has several: ${listWords(names)}. Give the mode too.` : 'It has no setpoint.'
    return `It is unclear which temperature of ${fullName(device)} to set. ${which}`
  }
  const { min, max, unit } = rangeOf(state)
  return value < min || value > max
    ? `${fullName(device)} accepts ${min} to ${max} ${unit}, not ${value}. Nothing was sent.`
    : makeStep(state, value, degrees => `${degrees} ${unit}`)
}

function makeStep(state: DeviceValue, value: number, say: (value: number) => string): Step {
  const order: Order = {
    state,
    target: state.property,
    value,
    accepts: reported => reported === value,
    command: `"${say(value)}"`,
    say: reported => `set to ${say(Number(reported))}`,
  }
  return { order, done: say(value) }
}

async function set(
  context: ToolContext,
  picked: Commandable,
  { steps, args }: { steps: readonly Step[]; args: Arguments },
) {
  const done: string[] = []
  let missed: string | undefined
  const told = () => (done.length > 0 ? `${picked.name} is set to ${listWords(done)}.` : '')
  const say = (more = '') => [told(), more].filter(Boolean).join(' ')
  for (const step of steps) {
    const carried = await carryOut(context, picked, step.order)
    if ('failure' in carried) return refuse(say(carried.failure))
    if (carried.missed) missed ??= carried.missed
    else done.push(step.done)
  }
  const setpoint = steps.map(({ order }) => order.state).find(({ key }) => key !== undefined)
  return answer(say(missed), {
    ...deviceFields(picked.device),
    temperature: args.temperature ?? null,
    unit: setpoint ? rangeOf(setpoint).unit : null,
    mode: args.mode ?? null,
    confirmed: !missed,
  })
}
