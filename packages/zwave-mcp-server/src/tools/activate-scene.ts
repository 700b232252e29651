import { nameKey } from '../zwave/find-device.ts'
import type { Scene } from '../zwave/scenes.ts'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'
import { whyNoCommands } from './command-device.ts'
import {
  answer,
  brokerUnreachable,
  FIELDS,
  fields,
  listWords,
  refuse,
  SETS,
  type ToolContext,
  UNKNOWN_GATEWAY,
  type ZwaveTool,
} from './tool.ts'

const MAX_NAMES = 20

/** `activate_scene`: lets the gateway set all that one of its scenes holds. */
export const activateScene: ZwaveTool = {
  definition: {
    name: 'activate_scene',
    title: 'Activate a scene',
    description:
      'Activates a scene of the Z-Wave gateway, which sets several devices at once; list_zwave_devices lists the scenes. ' +
      'The gateway says that it has started the scene, not that every device has followed.',
    inputSchema: {
      type: 'object',
      properties: {
        sceneName: {
          type: 'string',
          minLength: 1,
          description: 'The name of the scene, e.g. "Movie Time"; upper and lower case do not matter.',
        },
      },
      required: ['sceneName'],
      additionalProperties: false,
    },
    outputSchema: fields({ scene: FIELDS.text, sceneId: FIELDS.integer, activated: FIELDS.boolean }),
    annotations: SETS,
  },

  async run(args, context) {
    const { network } = context
    const said = String(args.sceneName)
    const readiness = await network.ready()
    if (!readiness.ready)
      return refuse(`${brokerUnreachable(network.brokerUrl, readiness.cause)} Nothing was sent.`)
    if (!sceneCalled(network, said)) await network.refresh()
    const scene = sceneCalled(network, said)
    if (!scene) return refuse(noSuchScene(network, said))
    const started = await startScene(scene, context)
    return started.ok
      ? answer(started.text, { scene: scene.name, sceneId: scene.id, activated: true })
      : refuse(started.text)
  },
}

/** The scene of this name, if there is exactly one. */
export function sceneCalled(network: ZwaveNetwork, said: string): Scene | undefined {
  const [scene, ...others] = network.scenes().filter(({ name }) => sceneKey(name) === sceneKey(said))
  return others.length === 0 ? scene : undefined
}

/** Activates a scene; tells what the gateway said. */
export async function startScene(scene: Scene, context: ToolContext): Promise<{ ok: boolean; text: string }> {
  const { network, confirmTimeoutMs } = context
  const unreachable = whyNoCommands(network)
  if (unreachable) return { ok: false, text: `${unreachable}, so nothing was sent.` }
  const outcome = await network.activate(scene, confirmTimeoutMs)
  return outcome.kind === 'done'
    ? { ok: true, text: `The scene ${scene.name} is activated.` }
    : { ok: false, text: `The scene ${scene.name} was not confirmed as activated: ${outcome.cause}.` }
}

/** "the movie time scene" is Movie Time. */
function sceneKey(name: string): string {
  return nameKey(name)
    .replace(/^(?:the|my) /, '')
    .replace(/ scene$/, '')
}

function noSuchScene(network: ZwaveNetwork, said: string): string {
  const names = network.scenes().map(({ name }) => name)
  const shown = names.slice(0, MAX_NAMES)
  if (network.gateway.name === null) return `There is no scene called "${said}". ${UNKNOWN_GATEWAY}`
  return names.length > 0
    ? `There is no scene called "${said}". The scenes are ${listWords(shown)}.`
    : `There is no scene called "${said}". The gateway has no scenes.`
}
