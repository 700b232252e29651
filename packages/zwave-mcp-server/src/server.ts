import { type CallToolResult, Server, type Tool } from '@modelcontextprotocol/server'
import { readData, readSentences, VERSION } from './data.ts'
import type { Logger } from './log.ts'
import { activateScene, controlDevice, controlLock } from './tools/control.ts'
import { checkHealth, listDevices, sensorData } from './tools/read.ts'
import { setThermostat } from './tools/thermostat.ts'
import { type Arguments, listWords, type RunTool, refuse, type ToolContext } from './tools/tool.ts'

/** The part of JSON Schema that is checked here. */
interface Property {
  readonly type: keyof typeof TYPE_WORDS
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

type Definition = Tool & { readonly inputSchema: { readonly properties: Readonly<Record<string, Property>> } }

export interface ServerOptions {
  readonly context: ToolContext
  readonly logger: Logger
  /** Gets the calls under way. */
  readonly inFlight?: Set<Promise<unknown>>
}

const INSTRUCTIONS =
  'Controls and reads the Z-Wave devices of a home. Devices are addressed by name; list_zwave_devices lists the names. ' +
  'Only say that a device was switched if control_zwave_device returned confirmed: true.'
/** The key of a tool's `_meta` under which clients find sentences. */
const SENTENCES_META = 'toolpost/sentences'
const TYPE_WORDS = { string: 'a string', boolean: 'true or false', number: 'a number' } as const
const MAX_SHOWN = 60

/** The definitions a model sees, in listing order. */
export const DEFINITIONS = readData<Definition[]>('tools.json')

const TOOLS: Readonly<Record<string, RunTool>> = {
  list_zwave_devices: listDevices,
  control_zwave_device: controlDevice,
  get_device_sensor_data: sensorData,
  set_thermostat: setThermostat,
  control_lock: controlLock,
  activate_scene: activateScene,
  check_zwave_health: checkHealth,
}

/** An MCP server with the Z-Wave tools; several can share one network. */
export function createServer({ context, logger, inFlight }: ServerOptions): Server {
  const virtual = context.virtual ? ' This home is virtual: no real devices are connected.' : ''
  const server = new Server(
    { name: 'zwave-mcp-server', title: 'Z-Wave', version: VERSION },
    { capabilities: { tools: {} }, instructions: `${INSTRUCTIONS}${virtual}` },
  )
  server.setRequestHandler('tools/list', () => {
    // Connecting loads the MQTT library, so let this answer go out first.
    setTimeout(() => context.network.start(), 1)
    const _meta = { [SENTENCES_META]: readSentences() }
    return { tools: DEFINITIONS.map((definition, at) => (at === 0 ? { ...definition, _meta } : definition)) }
  })
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const options = { context: { ...context, signal: mcpReq.signal }, logger }
    const answer = callTool(params.name, params.arguments ?? {}, options)
    inFlight?.add(answer)
    return answer.finally(() => inFlight?.delete(answer))
  })
  return server
}

/** Runs a tool. Never rejects: a failure becomes an error result. */
export async function callTool(
  name: string,
  args: Arguments,
  { context, logger }: ServerOptions,
): Promise<CallToolResult> {
  const definition = DEFINITIONS.find(item => item.name === name)
  const run = TOOLS[name]
  if (!definition || !run)
    return refuse(`Unknown tool "${name}"; expected one of ${Object.keys(TOOLS).join(', ')}.`)
  const mistakes = mistakesIn(args, definition)
  const startedAt = context.now()
  const result = mistakes
    ? refuse(mistakes)
    : await run(args, context).catch((error: unknown) => {
        logger.error({ tool: name, error, stack: error instanceof Error && error.stack }, 'tool failed')
        return refuse(`${name} failed: ${error instanceof Error ? error.message : String(error)}`)
      })
  const text = result.content.map(block => (block.type === 'text' ? block.text : block.type)).join(' ')
  logger.info({ tool: name, args, duration_ms: context.now() - startedAt, result: text }, 'tool called')
  return result
}

/** Sentences saying what is wrong with a tool's arguments; empty if they are valid. */
function mistakesIn(args: Arguments, { name, inputSchema }: Definition): string {
  const { properties, required = [] } = inputSchema
  const names = Object.keys(properties)
  const missing = required.filter(key => args[key] === undefined)
  const others = Object.entries(args).flatMap(([key, value]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    const takes = names.length > 0 ? `only ${listWords(names)}` : 'no arguments'
    if (!property) return [`${name} takes ${takes}, not ${show(key)}.`]
    const isValid = value === undefined || fits(value, property)
    return isValid ? [] : [`'${key}' must be ${typeWords(property)}, not ${show(value)}.`]
  })
  const needed = missing.map(key => `${name} needs '${key}', ${typeWords(properties[key])}.`)
  return [...needed, ...others].join(' ')
}

function fits(value: unknown, property: Property): boolean {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0 } = property
  if (typeof value === 'string' && property.enum) return property.enum.includes(value)
  if (typeof value === 'string' && value.trim().length < minLength) return false
  if (typeof value === 'number' && (value < minimum || value > maximum)) return false
  return typeof value === property.type
}

function typeWords(property: Property | undefined): string {
  const { type = 'string', enum: values, minimum = 0, maximum, minLength } = property ?? {}
  if (values) return listWords(values, 'or')
  if (maximum !== undefined) return `a number from ${minimum} to ${maximum}`
  return minLength ? 'a non-empty string' : TYPE_WORDS[type]
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
