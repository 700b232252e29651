import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
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

const HOME_TIMEOUT_MS = 15_000

export interface ExampleHome {
  server: StdioServerEntry
  brokerUrl: string
  isVirtual: boolean
  close(): Promise<void>
}

/**
 * The home of the built-in example: the broker of `MQTT_BROKER_URL`, or else an embedded broker with a virtual home, started
 * as a child process. `undefined` if the Z-Wave server is not installed; rejects, leaving no process behind, if the virtual
 * home cannot be started.
 */
export async function startExampleHome(options: {
  /** The program of the virtual home; that of the Z-Wave server if left out. */
  program?: string | undefined
  signal: AbortSignal
}): Promise<ExampleHome | undefined> {
  const folder = zwavePackage()
  if (!folder) return undefined
  const { MQTT_BROKER_URL: given } = process.env
  const { program = join(folder, 'bin', 'zwave-home.js'), signal } = options
  const home = given ? { brokerUrl: given, close: async () => {} } : await startVirtualHome(program, signal)
  const set = BROKER_VARIABLES.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : []))
  const server = {
    trust: true,
    command: process.execPath,
    args: [join(folder, 'bin', 'zwave-mcp-server.js')],
    hint: 'MQTT broker running, zwave-mcp-server installed',
    env: given ? Object.fromEntries(set) : { MQTT_BROKER_URL: home.brokerUrl },
  }
  return { ...home, server, isVirtual: !given }
}

async function startVirtualHome(program: string, signal: AbortSignal) {
  signal.throwIfAborted()
  const home = spawn(process.execPath, [program, '--virtual-home', '--until-stdin-ends'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const deadline = AbortSignal.timeout(HOME_TIMEOUT_MS)
  const ended = once(home, 'exit').then(([code, killedBy]) => {
    throw new Error(killedBy ? `it was killed by ${killedBy}` : `it exited with code ${code}`)
  })
  ended.catch(() => {})
  const end = async (how: NodeJS.Signals) => {
    home.kill(how)
    await ended.catch(() => {})
  }
  try {
    const lines = createInterface({ input: home.stdout })
    const first = once(lines, 'line', { signal: AbortSignal.any([signal, deadline]) })
    const [line] = await Promise.race([first, ended])
    // The program prints one line of JSON when its broker is listening.
    const brokerUrl = /^\{.*"url":"([^"]+)"/.exec(line)?.[1]
    if (brokerUrl) return { brokerUrl, close: () => end('SIGTERM') }
    throw new Error(`it printed '${line.slice(0, 80)}' instead of its address`)
  } catch (error) {
    await end('SIGKILL')
    const late = `it did not report its address within ${HOME_TIMEOUT_MS} ms`
    throw deadline.aborted ? new Error(late, { cause: error }) : error
  }
}
