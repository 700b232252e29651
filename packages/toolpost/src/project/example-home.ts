import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { StdioServerEntry } from '../mcp/index.ts'

/** The npm package with the Z-Wave server and a virtual home to try it on; found by name. */
export const ZWAVE_PACKAGE = 'zwave-mcp-server'
/** Its name in `mcpServers` of the built-in example. */
export const ZWAVE_SERVER = 'zwave'
/** The environment variables that point it to a real home. */
export const BROKER_VARIABLES = ['MQTT_BROKER_URL', 'MQTT_USERNAME', 'MQTT_PASSWORD', 'ZWAVE_MQTT_TOPIC']

/** The package's folder, if it is installed. */
export function zwavePackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${ZWAVE_PACKAGE}/package.json`))
  } catch {
    return undefined
  }
}

/** How long the virtual home may take to report the address of its broker. */
const HOME_TIMEOUT_MS = 15_000
const SHOWN_CHARACTERS = 80

export interface ExampleHome {
  /** The Z-Wave server, as an entry of `mcpServers`. */
  server: StdioServerEntry
  /** The broker it uses. */
  brokerUrl: string
  isVirtual: boolean
  close(): Promise<void>
}

export interface ExampleHomeOptions {
  environment?: NodeJS.ProcessEnv | undefined
  /** The program of the virtual home; that of the Z-Wave server if left out. */
  program?: string | undefined
  timeoutMs?: number | undefined
  /** Aborts the start. */
  signal?: AbortSignal | undefined
}

/**
 * The home of the built-in example: the broker of `MQTT_BROKER_URL`, or else an embedded broker with a virtual home, started
 * as a child process. `undefined` if the Z-Wave server is not installed; rejects, leaving no process behind, if the virtual
 * home cannot be started.
 */
export async function startExampleHome(options: ExampleHomeOptions = {}): Promise<ExampleHome | undefined> {
  const { environment = process.env } = options
  const folder = zwavePackage()
  if (!folder) return undefined
  const server = { command: process.execPath, args: [join(folder, 'bin', 'zwave-mcp-server.js')] }
  const given = Object.fromEntries(
    BROKER_VARIABLES.flatMap(name => (environment[name] ? [[name, environment[name]]] : [])),
  )
  if (given.MQTT_BROKER_URL) {
    const env = { server: { ...server, env: given }, brokerUrl: given.MQTT_BROKER_URL }
    return { ...env, isVirtual: false, close: async () => {} }
  }
  const program = options.program ?? join(folder, 'bin', 'zwave-home.js')
  const { home, brokerUrl } = await startVirtualHome(program, options)
  const env = { MQTT_BROKER_URL: brokerUrl }
  return { server: { ...server, env }, brokerUrl, isVirtual: true, close: () => end(home) }
}

async function startVirtualHome(
  program: string,
  { timeoutMs = HOME_TIMEOUT_MS, signal }: ExampleHomeOptions,
): Promise<{ home: ChildProcess; brokerUrl: string }> {
  signal?.throwIfAborted()
  const home = spawn(process.execPath, [program, '--virtual-home', '--until-stdin-ends'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const line = await firstLine(home, signal ? AbortSignal.any([signal, deadline]) : deadline)
    return { home, brokerUrl: urlIn(line) }
  } catch (error) {
    await end(home, 'SIGKILL')
    throw deadline.aborted
      ? new Error(`it did not report its address within ${timeoutMs} ms`, { cause: error })
      : error
  }
}

function firstLine(home: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    home.on('error', reject)
    home.once('exit', (code, killedBy) =>
      reject(new Error(killedBy ? `it was killed by ${killedBy}` : `it exited with code ${code}`)),
    )
    createInterface({ input: home.stdout as NodeJS.ReadableStream }).once('line', resolve)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** The program prints one line of JSON when its broker is listening. */
function urlIn(line: string): string {
  try {
    const { url } = JSON.parse(line) as { url?: unknown }
    if (typeof url === 'string') return url
  } catch {
    // Reported below.
  }
  throw new Error(`it printed '${line.slice(0, SHOWN_CHARACTERS)}' instead of its address`)
}

function end(home: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  return new Promise(resolve => {
    const hasStarted = home.pid !== undefined
    if (!hasStarted || home.exitCode !== null || home.signalCode !== null) return resolve()
    home.once('exit', () => resolve())
    home.kill(signal)
  })
}
