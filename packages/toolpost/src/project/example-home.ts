import { dirname, join } from 'node:path'
import type { StdioServerEntry } from '../mcp/index.ts'
import { installedFile } from '../util/package-root.ts'

/** The npm package with the Z-Wave server and a virtual home to try it on; found by name. */
export const ZWAVE_PACKAGE = 'zwave-mcp-server'
export const ZWAVE_SERVER = 'zwave'
/** The environment variables that point it to a real home. */
const BROKER_VARIABLES = ['MQTT_BROKER_URL', 'MQTT_USERNAME', 'MQTT_PASSWORD', 'ZWAVE_MQTT_TOPIC']

export function zwavePackage(): string | undefined {
  const file = installedFile(`${ZWAVE_PACKAGE}/package.json`)
  return file && dirname(file)
}

/** The server of the built-in example, if it is installed; `isWritten`: for a file, which should not depend on this process. */
export function exampleServers({ isWritten = false } = {}): Record<string, StdioServerEntry> {
  const folder = zwavePackage()
  if (!folder) return {}
  const given = BROKER_VARIABLES.filter(name => process.env.MQTT_BROKER_URL && process.env[name])
  const env = given.map(name => [name, isWritten ? `\${${name}}` : process.env[name]])
  return {
    [ZWAVE_SERVER]: {
      command: isWritten ? 'node' : process.execPath,
      args: [join(folder, 'bin', 'zwave-mcp-server.js')],
      trust: true,
      hint: 'MQTT broker running, zwave-mcp-server installed',
      ...(env.length > 0 && { env: Object.fromEntries(env) }),
    },
  }
}

/** The broker of the built-in example, and a virtual home on it, unless `MQTT_BROKER_URL` names another. */
export type ExampleHome = { brokerUrl: string; isVirtual: boolean; close(): Promise<void> }

export async function startExampleHome(): Promise<ExampleHome> {
  const { MQTT_BROKER_URL: given } = process.env
  if (given) return { brokerUrl: given, isVirtual: false, close: async () => {} }
  const { startHome } = await import(`${ZWAVE_PACKAGE}/home`)
  const { url, close } = await startHome()
  return { brokerUrl: url, isVirtual: true, close }
}
