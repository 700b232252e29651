import { actuatorsOf, fullName } from '../zwave/device.ts'
import { LOCKED, UNLOCKED } from '../zwave/levels.ts'
import { sayState } from '../zwave/readings.ts'
import { deviceOfKind, whyUnreachable } from './command-device.ts'
import { carryOut, DEVICE_NAME, type Order, REPORT_FIELDS } from './control-device.ts'
import { FIELDS, fields, refuse, SETS, type ZwaveTool } from './tool.ts'

/** `control_lock`: locks or unlocks a door. A tool of its own, so that a client can ask before a door is opened. */
export const controlLock: ZwaveTool = {
  definition: {
    name: 'control_lock',
    title: 'Lock or unlock a door',
    description:
      'Locks or unlocks a Z-Wave door lock and waits for its report. Unlock only if the user asked for exactly that; ' +
      'never as part of a general command such as "everything off".',
    inputSchema: {
      type: 'object',
      properties: {
        deviceName: { ...DEVICE_NAME, description: 'The name of the lock, e.g. "Front Door Lock".' },
        action: { type: 'string', enum: ['lock', 'unlock'], description: 'What to do.' },
      },
      required: ['deviceName', 'action'],
      additionalProperties: false,
    },
    outputSchema: fields({
      ...FIELDS.device,
      endpoint: FIELDS.integer,
      action: { type: 'string', enum: ['lock', 'unlock'] },
      ...REPORT_FIELDS,
    }),
    annotations: { ...SETS, destructiveHint: true },
  },

  async run(args, context) {
    const picked = await deviceOfKind(context, String(args.deviceName), 'lock')
    if (!picked.ok) return refuse(picked.reason)
    const { device, endpoint } = picked
    const locks = actuatorsOf(device).filter(({ kind }) => kind === 'lock')
    const actuator = locks.find(lock => endpoint === undefined || lock.endpoint === endpoint)
    if (!actuator) return refuse(`${fullName(device)} is not a lock.`)
    const unreachable = whyUnreachable(context.network, device)
    if (unreachable) return refuse(unreachable)
    const { action } = args
    const order = lockOrder(action === 'unlock' ? 'unlock' : 'lock')
    return carryOut(context, { ...picked, actuator }, { order, asked: { action } })
  },
}

function lockOrder(action: 'lock' | 'unlock'): Order {
  const isLocked = action === 'lock'
  return {
    command: action,
    value: isLocked ? LOCKED : UNLOCKED,
    accepts: value => sayState('lock', value) === (isLocked ? 'locked' : 'unlocked'),
  }
}
