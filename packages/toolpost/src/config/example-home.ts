import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { StdioServerEntry } from '../mcp/index.ts'

/** What of the environment says where a real home is. */
const BROKER_VARIABLES = ['MQTT_BROKER_URL', 'MQTT_USERNAME', 'MQTT_PASSWORD', 'ZWAVE_MQTT_TOPIC']

export interface ExampleHome {
  /** The Z-Wave server, as an entry of `mcpServers`. */
  server: StdioServerEntry
  /** The broker that it uses. */
  brokerUrl: string
  isVirtual: boolean
  close(): Promise<void>
}

/**
 * The home of the built-in example: the broker of `MQTT_BROKER_URL`, or else an embedded broker with a virtual home,
 * started as a command. `undefined` where the Z-Wave server is not installed.
 */
export async function startExampleHome(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ExampleHome | undefined> {
  const folder = zwavePackage()
  if (!folder) return undefined
  const server = { command: process.execPath, args: [join(folder, 'bin', 'zwave-mcp-server.js')] }
  const given = Object.fromEntries(
    BROKER_VARIABLES.flatMap(name => (environment[name] ? [[name, environment[name]]] : [])),
  )
  if (given.MQTT_BROKER_URL) {
    return {
      server: { ...server, env: given },
      brokerUrl: given.MQTT_BROKER_URL,
      isVirtual: false,
      close: async () => {},
    }
  }
  const home = spawn(
    process.execPath,
    [join(folder, 'bin', 'zwave-home.js'), '--virtual-home', '--until-stdin-ends'],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const brokerUrl = await firstUrl(home)
  return {
    server: { ...server, env: { MQTT_BROKER_URL: brokerUrl } },
    brokerUrl,
    isVirtual: true,
    close: () => end(home),
  }
}

function zwavePackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('zwave-mcp-server/package.json'))
  } catch {
    return undefined
  }
}

/** The command prints one line of JSON when its broker listens. */
function firstUrl(home: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    home.once('error', reject)
    home.once('exit', code => reject(new Error(`The virtual home ended with exit code ${code}`)))
    const lines = createInterface({ input: home.stdout as NodeJS.ReadableStream })
    lines.once('line', line => resolve((JSON.parse(line) as { url: string }).url))
  })
}

function end(home: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    if (home.exitCode !== null || home.signalCode !== null) return resolve()
    home.once('exit', () => resolve())
    home.kill('SIGTERM')
  })
}
