// How long it takes to understand the first sentence in a large home, cold: each round runs in a fresh process.
// node bench/voice/grammar-build.mjs [--devices 200] [--sentences 300] [--rounds 5]
import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '200' },
    sentences: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '5' },
    /** One round, in this process. */
    once: { type: 'boolean', default: false },
  },
})
/** Lets V8 finish its background compilation of the modules. */
const SETTLED_MS = 300
const GOAL_MS = { built: 200, matched: 5 }

if (options.once) console.log(JSON.stringify(await round()))
else report()

function report() {
  const self = fileURLToPath(import.meta.url)
  const args = [self, '--once', '--devices', options.devices, '--sentences', options.sentences]
  const rounds = Array.from({ length: Number(options.rounds) }, () =>
    JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })),
  )
  console.log(`${options.devices} devices, ${options.sentences} sentences; ms, median (least to most)`)
  for (const stage of Object.keys(rounds[0])) {
    const times = rounds.map(result => result[stage]).sort((a, b) => a - b)
    const [least, median, most] = [times[0], times[times.length >> 1], times.at(-1)]
    console.log(
      `${stage.padEnd(18)} ${median.toFixed(1).padStart(7)}  (${least.toFixed(1)} to ${most.toFixed(1)})`,
    )
  }
  console.log(`goal: built in ${GOAL_MS.built}, matched in ${GOAL_MS.matched}`)
}

async function round() {
  const { OfflineClient } = await import('../../packages/toolpost/dist/models/index.js')
  const { ToolExecutor, ToolManager, defineTool } = await import('../../packages/toolpost/dist/index.js')
  const manager = new ToolManager()
  manager.addCustomTool(ownTool(defineTool))
  manager.addMcpTools(homeTools(defineTool), { server: 'zwave' })
  const client = new OfflineClient({ executor: new ToolExecutor(manager) })
  await client.refresh()
  await delay(SETTLED_MS)
  const stages = {
    // Parses the sentences and builds the grammar.
    grammar: elapsedMs(() => client.unspeakable()),
    graph: elapsedMs(() => client.graph()),
  }
  stages.built = stages.grammar + stages.graph
  const said = ['turn on kitchen light 40', 'turn off all the lights in the barn', 'sing me a song']
  stages['first match'] = elapsedMs(() => client.understand(said[0]))
  for (let warm = 0; warm < 20; warm++) for (const sentence of said) client.understand(sentence)
  stages['next matches'] = Math.max(...said.map(sentence => least(() => client.understand(sentence))))
  return stages
}

function least(work) {
  return Math.min(...Array.from({ length: 5 }, () => elapsedMs(work)))
}

function elapsedMs(work) {
  const before = performance.now()
  work()
  return performance.now() - before
}

function ownTool(defineTool) {
  const sentences = Array.from(
    { length: Number(options.sentences) },
    (_, at) => `(do|make) [the] thing number${at} [for|with] {place${at}:here|there} [now]`,
  )
  return defineTool({ name: 'many', description: 'Many', schema: {}, sentences, handler: () => 'done' })
}

/** Tools named like the Z-Wave server's, so that its sentences apply to them. */
function homeTools(defineTool) {
  const text = { type: 'string', minLength: 1 }
  const level = { type: 'number', minimum: 0, maximum: 100 }
  const oneOf = (...values) => ({ type: 'string', enum: values })
  const tools = {
    control_zwave_device: { deviceName: text, action: oneOf('on', 'off', 'dim'), level },
    get_device_sensor_data: { deviceName: text },
    set_thermostat: {
      deviceName: text,
      temperature: { type: 'number' },
      mode: oneOf('off', 'heat', 'cool', 'auto'),
    },
    control_lock: { deviceName: text, action: oneOf('lock', 'unlock') },
    activate_scene: { sceneName: text },
    check_zwave_health: {},
    list_zwave_devices: { filter: { type: 'string' }, includeInactive: { type: 'boolean' } },
  }
  return Object.entries(tools).map(([name, properties]) => ({
    ...defineTool({
      name,
      description: name,
      schema: { type: 'object', properties, additionalProperties: false },
      handler: () => ({ devices: devices(Number(options.devices)), scenes: ['Movie Time'], live: true }),
    }),
    readOnly: /^(get|check|list)/.test(name),
  }))
}

function devices(count) {
  const rooms = ['Kitchen', 'Bedroom', 'Office', 'Attic', 'Cellar', 'Studio', 'Barn', 'Lounge']
  const kinds = { Light: 'dimmer', Lamp: 'dimmer', Fan: 'switch', Blinds: 'cover', Heater: 'switch' }
  const things = Object.keys(kinds)
  return Array.from({ length: count }, (_, at) => {
    const thing = things[at % things.length]
    const name = `${rooms[at % rooms.length]} ${thing} ${at}`
    return { name, location: null, kind: kinds[thing], status: 'Alive', state: 'off' }
  })
}
