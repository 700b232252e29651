import { activateScene } from './activate-scene.ts'
import { controlDevice } from './control-device.ts'
import { controlLock } from './control-lock.ts'
import { checkHealth } from './health.ts'
import { listDevices } from './list-devices.ts'
import { sensorData } from './sensor-data.ts'
import { setThermostat } from './set-thermostat.ts'
import type { ZwaveTool } from './tool.ts'

/** All tools, in listing order. */
export const TOOLS: readonly ZwaveTool[] = [
  listDevices,
  controlDevice,
  sensorData,
  setThermostat,
  controlLock,
  activateScene,
  checkHealth,
]
