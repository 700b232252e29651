import { dirname, join } from 'node:path'
import type { StdioServerEntry } from '../mcp/index.ts'
import { installedFile } from '../util/package-root.ts'

/** The npm package with the Z-Wave server and a virtual home to try it on; found by name. */
export const ZWAVE_PACKAGE = 'zwave-mcp-server'
/** Its name in `mcpServers` of the built-in example. */
export const ZWAVE_SERVER = 'zwave'
/** The environment variables that point it to a real home. */
export const BROKER_VARIABLES = ['MQTT_BROKER_URL', 'MQTT_USERNAME', 'MQTT_PASSWORD', 'ZWAVE_MQTT_TOPIC']

export function zwavePackage(): string | undefined {
  const file = installedFile(`${ZWAVE_PACKAGE}/package.json`)
  return file && dirname(file)
}

export interface ExampleHome {
  server: StdioServerEntry
  brokerUrl: string
  isVirtual: boolean
  close(): Promise<void>
}

/**
 * The home of the built-in example: the broker of `MQTT_BROKER_URL`, or else an embedded broker with a virtual home, in this
 * process. `undefined` if the Z-Wave server is not installed; rejects if the virtual home cannot be started.
 */
export async function startExampleHome(): Promise<ExampleHome | undefined> {
  const folder = zwavePackage()
  if (!folder) return undefined
  const { MQTT_BROKER_URL: given } = process.env
  const home = given ? { url: given, close: async () => {} } : await startVirtualHome()
  const set = BROKER_VARIABLES.flatMap(name =>
    given && process.env[name] ? [[name, process.env[name]]] : [],
  )
  const server = {
    trust: true,
    command: process.execPath,
    args: [join(folder, 'bin', 'zwave-mcp-server.js')],
    hint: 'MQTT broker running, zwave-mcp-server installed',
    env: { ...Object.fromEntries(set), MQTT_BROKER_URL: home.url },
  }
  return { server, brokerUrl: home.url, isVirtual: !given, close: () => home.close() }
}

async function startVirtualHome(): Promise<{ url: string; close(): Promise<void> }> {
  const { startHome } = await import(`${ZWAVE_PACKAGE}/home`)
  return startHome()
}
