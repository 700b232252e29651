import { actuatorsOf, fullName } from '../zwave/device.ts'
import { LOCKED, UNLOCKED } from '../zwave/levels.ts'
import type { Primitive } from '../zwave/payload.ts'
import { sayState } from '../zwave/readings.ts'
import { deviceOfKind, whyUnreachable } from './command-device.ts'
import { control, DEVICE_NAME, REPORT_FIELDS } from './control-device.ts'
import { FIELDS, fields, refuse, SETS, takes, type ZwaveTool } from './tool.ts'

/** `control_lock`: locks or unlocks a door. A separate tool, so that a client can ask before opening a door. */
export const controlLock: ZwaveTool = {
  definition: {
    name: 'control_lock',
    title: 'Lock or unlock a door',
    description:
      'Locks or unlocks a Z-Wave door lock and waits for its report. Unlock only if the user asked for exactly that; ' +
      'never as part of a general command such as "everything off".',
    inputSchema: takes(
      {
        deviceName: { ...DEVICE_NAME, description: 'The name of the lock, e.g. "Front Door Lock".' },
        action: { type: 'string', enum: ['lock', 'unlock'], description: 'What to do.' },
      },
      ['deviceName', 'action'],
    ),
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
    if (typeof picked === 'string') return refuse(picked)
    const { device, endpoint } = picked
    const locks = actuatorsOf(device).filter(({ kind }) => kind === 'lock')
    const actuator = locks.find(lock => endpoint === undefined || lock.endpoint === endpoint)
    if (!actuator) return refuse(`${fullName(device)} is not a lock.`)
    const unreachable = whyUnreachable(context.network, device)
    if (unreachable) return refuse(unreachable)
    const { action } = args
    const [value, wanted] = action === 'unlock' ? [UNLOCKED, 'unlocked'] : [LOCKED, 'locked']
    const accepts = (reported: Primitive) => sayState('lock', reported) === wanted
    return control(context, {
      picked,
      actuator,
      wish: { command: String(action), value, accepts },
      asked: { action },
    })
  },
}
