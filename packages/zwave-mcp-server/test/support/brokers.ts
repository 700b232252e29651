import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startBroker } from '../../src/home/index.ts'

/** A broker that a test can take away and bring back on the same port. */
export interface TestBroker {
  readonly url: string
  stop(): Promise<void>
  start(): Promise<void>
}

const MOSQUITTO = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto', '/opt/homebrew/sbin/mosquitto'].find(
  existsSync,
)
const required = process.env.TOOLPOST_REQUIRE_SYSTEM_PARTS === '1'

/** Where a required part is missing, its tests run, and fail. */
export const hasMosquitto = MOSQUITTO !== undefined || required

if (!hasMosquitto) process.stderr.write('mosquitto is not installed: the tests on it are passed over\n')

export async function aedesBroker(): Promise<TestBroker> {
  let broker = await startBroker()
  const { url, port } = broker
  onTestFinished(() => broker.close())
  return {
    url,
    stop: () => broker.close(),
    start: async () => {
      broker = await startBroker({ port })
    },
  }
}

/** A real Mosquitto; what is retained survives a restart. */
export async function mosquittoBroker(): Promise<TestBroker & { pid(): number }> {
  if (!MOSQUITTO) throw new Error('mosquitto is required and not installed')
  const folder = mkdtempSync(join(tmpdir(), 'zwave-mosquitto-'))
  const port = await freePort()
  const config = join(folder, 'mosquitto.conf')
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence true',
    `persistence_location ${folder}/`,
    // Started by root it would become another user, who cannot write here.
    ...(process.getuid?.() === 0 ? ['user root'] : []),
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const start = () => launch(MOSQUITTO, config, port)
  let child = await start()
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  onTestFinished(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    url: `mqtt://127.0.0.1:${port}`,
    stop,
    start: async () => {
      child = await start()
    },
    pid: () => child.pid ?? 0,
  }
}

async function launch(program: string, config: string, port: number) {
  const child = spawn(program, ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.resume()
  while (!(await accepts(port))) if (child.exitCode !== null) throw new Error('mosquitto ended')
  return child
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const accepted = await new Promise<boolean>(resolve => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
  socket.destroy()
  return accepted
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}
