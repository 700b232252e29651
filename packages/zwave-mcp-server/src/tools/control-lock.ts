import { actuatorsOf, fullName, LOCKED, sayState, UNLOCKED } from '../zwave/device.ts'
import type { Primitive } from '../zwave/messages.ts'
import { control } from './control-device.ts'
import { deviceToCommand, whyUnreachable } from './pick-device.ts'
import { type RunTool, refuse } from './tool.ts'

/** `control_lock`: locks or unlocks a door. A separate tool, so that a client can ask before opening a door. */
export const controlLock: RunTool = async ({ deviceName, action }, context) => {
  const picked = await deviceToCommand(context.network, String(deviceName), 'lock')
  if (typeof picked === 'string') return refuse(picked)
  const { device, endpoint } = picked
  const locks = actuatorsOf(device).filter(({ kind }) => kind === 'lock')
  const actuator = locks.find(lock => endpoint === undefined || lock.endpoint === endpoint)
  if (!actuator) return refuse(`${fullName(device)} is not a lock.`)
  const unreachable = whyUnreachable(context.network, device)
  if (unreachable) return refuse(unreachable)
  const [value, wanted] = action === 'unlock' ? [UNLOCKED, 'unlocked'] : [LOCKED, 'locked']
  const accepts = (reported: Primitive) => sayState('lock', reported) === wanted
  const wish = { command: String(action), value, accepts }
  return control(context, { picked, actuator, wish, asked: { action } })
}
