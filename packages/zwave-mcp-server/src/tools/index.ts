import { controlDevice } from './control-device.ts'
import { checkHealth } from './health.ts'
import { listDevices } from './list-devices.ts'
import { sensorData } from './sensor-data.ts'
import type { ZwaveTool } from './tool.ts'

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly ZwaveTool[] = [listDevices, controlDevice, sensorData, checkHealth]
