import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Aedes, type AedesOptions } from 'aedes'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../zwave-mcp-server/test/support/brokers.ts'
import { findProgram } from '../../src/programs/platform.ts'
import { temporaryFolder } from './programs.ts'

/** A broker inside of the test. */
export async function aedesBroker({ port = 0, ...options }: AedesOptions & { port?: number } = {}) {
  const broker = await Aedes.createBroker(options)
  const server = createServer(socket => void broker.handle(socket)).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.close()
    await new Promise<void>(resolve => broker.close(resolve))
  }
  onTestFinished(stop)
  const address = server.address()
  const actual = address && typeof address === 'object' ? address.port : 0
  return { broker, stop, port: actual, url: `mqtt://127.0.0.1:${actual}` }
}

/** A real Mosquitto that a test can end, kill and bring back on the same port. */
export interface Mosquitto {
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
}

export async function mosquitto({ persistence = true } = {}): Promise<Mosquitto> {
  const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin`
  const program = findProgram('mosquitto', { PATH })
  if (!program) throw new Error('mosquitto is required and not installed')
  const port = await freePort()
  const config = writeConfig(port, persistence)
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
  const start = async () => {
    child = spawn(program, ['-c', config], { stdio: 'ignore' })
    while (!(await accepts(port))) if (child.exitCode !== null) throw new Error('mosquitto ended')
  }
  onTestFinished(() => end('SIGKILL'))
  await start()
  return { url: `mqtt://127.0.0.1:${port}`, start, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

function writeConfig(port: number, persistence: boolean): string {
  const folder = temporaryFolder()
  const path = join(folder, 'mosquitto.conf')
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'max_queued_messages 100000',
    ...(persistence ? ['persistence true', `persistence_location ${folder}/`] : []),
    // Saved in the midst of everything, so that a broker that was killed comes back with its past.
    ...(persistence ? ['autosave_on_changes true', 'autosave_interval 20'] : []),
    // Started by root it would become another user, who cannot write here.
    ...(process.getuid?.() === 0 ? ['user root'] : []),
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const accepted = await new Promise<boolean>(resolve => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
  socket.destroy()
  return accepted
}
