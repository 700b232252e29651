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
import type { CommandOutcome } from '../zwave/zwave-network.ts'
import { deviceFields, deviceOfKind, tellFailed, tellUnconfirmed, whyUnreachable } from './command-device.ts'
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
  type ZwaveTool,
} from './tool.ts'

/** One value of a thermostat that is to be set. */
interface Step {
  readonly state: DeviceValue
  readonly value: number
  /** As it is said: "heat", "21 °C". */
  readonly said: string
}

type Plan =
  | { readonly ok: true; readonly steps: readonly Step[] }
  | { readonly ok: false; readonly reason: string }

/** `set_thermostat`: the temperature that a thermostat aims at, its mode, or both. */
export const setThermostat: ZwaveTool = {
  definition: {
    name: 'set_thermostat',
    title: 'Set a thermostat',
    description:
      'Sets the temperature that a Z-Wave thermostat aims at, its mode, or both, and waits for its report. The temperature ' +
      'is in the unit of the thermostat, which get_device_sensor_data tells. It is set for the mode that is given or active.',
    inputSchema: {
      type: 'object',
      properties: {
        deviceName: { ...DEVICE_NAME, description: 'The name of the thermostat, e.g. "Hallway Thermostat".' },
        temperature: {
          type: 'number',
          description: 'The temperature to aim at, in the unit of the thermostat.',
        },
        mode: { type: 'string', enum: Object.keys(MODES), description: 'The mode to change to.' },
      },
      required: ['deviceName'],
      additionalProperties: false,
    },
    outputSchema: fields({
      ...FIELDS.device,
      temperature: FIELDS.numberOrNull,
      unit: FIELDS.textOrNull,
      mode: FIELDS.textOrNull,
      confirmed: { ...FIELDS.boolean, description: 'Whether the thermostat itself reported all of it.' },
    }),
    annotations: SETS,
  },

  async run(args, context) {
    if (args.temperature === undefined && args.mode === undefined)
      return refuse('set_thermostat needs a temperature, a mode or both.')
    const picked = await deviceOfKind(context, String(args.deviceName), 'thermostat')
    if (!picked.ok) return refuse(picked.reason)
    const { device, endpoint, name } = picked
    const plan = makePlan(device, args, endpoint)
    if (!plan.ok) return refuse(plan.reason)
    const unreachable = whyUnreachable(context.network, device)
    if (unreachable) return refuse(unreachable)
    return carryOut(context, { device, name, steps: plan.steps, args })
  },
}

function makePlan(device: Device, { temperature, mode }: Arguments, endpoint?: number): Plan {
  const setpoints = setpointsOf(device, endpoint)
  const modeValue = modeOf(device, endpoint)
  if (setpoints.length === 0 && !modeValue)
    return { ok: false, reason: `${fullName(device)} is not a thermostat.` }
  const modeStep =
    mode === undefined ? { ok: true as const, steps: [] } : planMode(device, modeValue, String(mode))
  if (!modeStep.ok || temperature === undefined) return modeStep
  const wantedMode = mode === undefined ? modeValue?.value : MODES[String(mode)]
  const temperatureStep = planTemperature(device, meantSetpoint(setpoints, wantedMode), Number(temperature))
  if (!temperatureStep.ok) return temperatureStep
  return { ok: true, steps: [...modeStep.steps, ...temperatureStep.steps] }
}

function planMode(device: Device, state: DeviceValue | undefined, mode: string): Plan {
  const value = MODES[mode]
  if (!state || value === undefined)
    return { ok: false, reason: `${fullName(device)} has no modes; only its temperature can be set.` }
  if (state.choices && !state.choices.includes(value)) {
    const modes = listWords(state.choices.map(sayMode), 'or')
    return { ok: false, reason: `${fullName(device)} has no mode ${mode}; expected one of ${modes}.` }
  }
  return { ok: true, steps: [{ state, value, said: mode }] }
}

function planTemperature(device: Device, state: DeviceValue | undefined, value: number): Plan {
  if (!state) {
    const names = setpointsOf(device).map(setpointName)
    const which =
      names.length > 0 ? `It has several: ${listWords(names)}. Give the mode too.` : 'It has no setpoint.'
    return {
      ok: false,
      reason: `It is not clear which temperature of ${fullName(device)} is meant. ${which}`,
    }
  }
  const { min, max, unit } = rangeOf(state)
  if (value < min || value > max)
    return {
      ok: false,
      reason: `${fullName(device)} takes ${min} to ${max} ${unit}, not ${value}. Nothing was sent.`,
    }
  return { ok: true, steps: [{ state, value, said: `${value} ${unit}` }] }
}

interface Errand {
  readonly device: Device
  readonly name: string
  readonly steps: readonly Step[]
  readonly args: Arguments
}

async function carryOut(context: ToolContext, { device, name, steps, args }: Errand) {
  const { network, confirmTimeoutMs: timeoutMs, signal } = context
  const done: string[] = []
  let unconfirmed: { step: Step; outcome: CommandOutcome } | undefined
  for (const step of steps) {
    const { state, value } = step
    const accepts = (reported: unknown) => reported === value
    const outcome = await network.send({
      device,
      state,
      target: state.property,
      value,
      accepts,
      timeoutMs,
      signal,
    })
    const failure = tellFailed(name, outcome)
    if (failure) return refuse(done.length > 0 ? `${name} is set to ${listWords(done)}. ${failure}` : failure)
    if (outcome.kind === 'confirmed') done.push(step.said)
    else unconfirmed ??= { step, outcome }
  }
  const confirmed = !unconfirmed
  const set = done.length > 0 ? `${name} is set to ${listWords(done)}.` : ''
  const missed = unconfirmed && tellMissed(name, unconfirmed, timeoutMs)
  const unit = steps.find(({ state }) => state.key !== undefined)
  return answer([set, missed].filter(Boolean).join(' '), {
    ...deviceFields(device),
    temperature: args.temperature ?? null,
    unit: unit ? rangeOf(unit.state).unit : null,
    mode: args.mode ?? null,
    confirmed,
  })
}

function tellMissed(
  name: string,
  { step, outcome }: { step: Step; outcome: CommandOutcome },
  timeoutMs: number,
): string {
  const reported = 'reported' in outcome ? outcome.reported : undefined
  const said =
    reported === undefined
      ? undefined
      : `set to ${step.state.key ? `${reported} ${rangeOf(step.state).unit}` : sayMode(Number(reported))}`
  return tellUnconfirmed({ name, command: `"${step.said}"`, outcome, timeoutMs, said })
}
