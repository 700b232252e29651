import { isPrimitive, isRecord, type Primitive } from '../zwave/payload.ts'
import { toNodes, valueId } from './gateway-list.ts'
import type { VirtualHome } from './virtual-home.ts'

/** A scene: device name → what its first writeable value is set to. */
export interface SceneDescription {
  readonly name: string
  readonly values: Readonly<Record<string, Primitive>>
}

type ApiHost = Pick<VirtualHome, 'devices' | 'scenes' | 'isDriverReady' | 'command'>

/** What Z-Wave JS returns for a command that it sent unsupervised. */
const SENT = { status: 254 }

/** Answers an MQTT API call as the gateway does. */
export function answerApi(host: ApiHost, method: string, args: readonly unknown[]): Record<string, unknown> {
  if (!host.isDriverReady) return { success: false, message: 'Z-Wave client not connected' }
  try {
    return { success: true, message: 'Success zwave api call', result: resultOf(host, method, args) }
  } catch (error) {
    return { success: false, message: error instanceof Error ? error.message : String(error) }
  }
}

function resultOf(host: ApiHost, method: string, [first, second]: readonly unknown[]): unknown {
  switch (method) {
    case 'getNodes':
      return toNodes(host.devices)
    case 'writeValue':
      return writeValue(host, first, second)
    case '_getScenes':
      return host.scenes.map(({ name }, index) => ({ sceneid: index + 1, label: name, values: [] }))
    case '_activateScene':
      return activateScene(host, Number(first))
    default:
      throw new Error('Unknown API')
  }
}

function writeValue(host: ApiHost, wanted: unknown, value: unknown): unknown {
  if (!isRecord(wanted) || !isPrimitive(value)) throw new Error('Invalid valueId')
  const { nodeId, commandClass, endpoint = 0, property, propertyKey } = wanted
  const id = [commandClass, endpoint, property, ...(propertyKey === undefined ? [] : [propertyKey])].join('-')
  const device = host.devices.find(item => item.nodeId === nodeId)
  const target = device?.values.find(item => item.writeable && valueId(item) === id)
  if (!device || !target) throw new Error('No value found with given valueId')
  host.command(device, target, value)
  return SENT
}

function activateScene(host: ApiHost, sceneId: number): true {
  const scene = host.scenes[sceneId - 1]
  if (!scene) throw new Error('No scene found with given sceneid')
  for (const [name, value] of Object.entries(scene.values)) {
    const device = host.devices.find(item => item.name === name)
    const target = device?.values.find(({ writeable }) => writeable)
    if (device && target) host.command(device, target, value)
  }
  return true
}
