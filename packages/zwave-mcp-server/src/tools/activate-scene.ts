import { nameKey, withoutArticle } from '../zwave/find-device.ts'
import type { Scene } from '../zwave/messages.ts'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'
import { whyNoCommands } from './pick-device.ts'
import {
  answer,
  listWords,
  type RunTool,
  refuse,
  type ToolContext,
  UNKNOWN_GATEWAY,
  whyNotReady,
} from './tool.ts'

const MAX_NAMES = 20

/** `activate_scene`: has the gateway apply one of its scenes. */
export const activateScene: RunTool = async ({ sceneName }, context) => {
  const { network } = context
  const said = String(sceneName)
  const unreachable = await whyNotReady(network)
  if (unreachable) return refuse(`${unreachable} Nothing was sent.`)
  if (!sceneCalled(network, said)) await network.refresh(0)
  const scene = sceneCalled(network, said)
  if (!scene) return refuse(noSuchScene(network, said))
  const problem = await startScene(scene, context)
  if (problem) return refuse(problem)
  const { name, id: sceneId } = scene
  return answer(`The scene ${name} is activated.`, { scene: name, sceneId, activated: true })
}

/** The scene of this name, if there is exactly one. */
export function sceneCalled(network: ZwaveNetwork, said: string): Scene | undefined {
  const [scene, ...others] = network.scenes().filter(({ name }) => sceneKey(name) === sceneKey(said))
  return others.length === 0 ? scene : undefined
}

/** Activates a scene. Returns the reason if the gateway did not confirm it. */
export async function startScene(scene: Scene, context: ToolContext): Promise<string | undefined> {
  const { network, confirmTimeoutMs } = context
  const unreachable = whyNoCommands(network)
  if (unreachable) return `${unreachable}, so nothing was sent.`
  const outcome = await network.activate(scene, confirmTimeoutMs)
  if (outcome.kind === 'done') return undefined
  return `The scene ${scene.name} was not confirmed as activated: ${outcome.cause}.`
}

/** "the movie time scene" means Movie Time. */
function sceneKey(name: string): string {
  return withoutArticle(nameKey(name)).replace(/ scene$/, '')
}

function noSuchScene(network: ZwaveNetwork, said: string): string {
  const names = network.scenes().map(({ name }) => name)
  const missing = `There is no scene called "${said}".`
  if (network.gateway.name === null) return `${missing} ${UNKNOWN_GATEWAY}`
  if (names.length > 0) return `${missing} The scenes are ${listWords(names.slice(0, MAX_NAMES))}.`
  if (network.hasListedScenes) return `${missing} The gateway has no scenes.`
  return `The scene "${said}" cannot be activated: the gateway does not list its scenes.`
}
