import { cleanText, isRecord } from './payload.ts'

/** A gateway scene: values that are set together. */
export interface Scene {
  readonly id: number
  readonly name: string
  readonly gateway: string
}

const MAX_SCENES = 1_000

/** The scenes in the result of `_getScenes`. */
export function parseScenes(result: unknown, gateway: string): Scene[] {
  if (!Array.isArray(result)) return []
  return result.slice(0, MAX_SCENES).flatMap(scene => {
    if (!isRecord(scene) || typeof scene.sceneid !== 'number' || typeof scene.label !== 'string') return []
    return [{ id: scene.sceneid, name: cleanText(scene.label), gateway }]
  })
}
