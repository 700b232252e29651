import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DurableOptions } from 'toolpost/project'
import { DatabaseProblem } from './database.ts'

const USER = 'toolpost'
/** A user namespace in which root's files belong to `nobody`: PostgreSQL refuses to run as root. */
const NAMESPACE = ['--user', '--map-user=65534', '--map-group=65534', '--']

/**
 * The PostgreSQL of a folder. A child process owns it and stops it when this process ends, however it ends; other users of the
 * folder then start it again. `flags`: additional arguments of the server.
 */
export function createEmbedded(
  dataDir: string,
  { onNotice, flags = [] }: Pick<DurableOptions, 'onNotice'> & { flags?: readonly string[] } = {},
) {
  const data = resolve(dataDir)
  let child: ChildProcess | undefined
  let url: URL | undefined

  async function startChild(port: number, password: string): Promise<void> {
    child?.kill('SIGKILL')
    const isNew = !existsSync(join(data, 'PG_VERSION'))
    if (isNew) onNotice?.(`Creating PostgreSQL in ${data}; this happens once and takes a few seconds …`)
    const server = fileURLToPath(new URL('../dist/embedded-server.js', import.meta.url))
    child = fork(server, { cwd: '/', detached: true, stdio: 'ignore', ...(await asNobody(data)) })
    child.send({ isNew, flags, databaseDir: data, port, user: USER, password })
    const exited = once(child, 'exit').then(([code]) => [{ error: `its process ended with ${code}` }])
    const [{ error }] = await Promise.race([once(child, 'message'), exited])
    // Another process may have been quicker.
    const text = `The embedded PostgreSQL in ${data} could not be started: ${error}`
    if (error !== undefined && (await runningPort(data)) !== port)
      throw new DatabaseProblem(text, error.includes('incompatible with'))
    if (isNew) onNotice?.('PostgreSQL is ready')
    child.unref()
    child.channel?.unref()
  }

  return {
    /** Starts it unless it is running, always on the same port; the first time, it is created. Throws a `DatabaseProblem`. */
    async start(): Promise<URL> {
      const password = await passwordOf(data)
      const running = await runningPort(data)
      // Below the ports that systems give to clients. If it is taken, the next attempt uses another one.
      const port = Number(url?.port) || running || randomInt(20_000, 32_000)
      if (running !== port) await startChild(port, password)
      url = new URL(`postgresql://${USER}:${password}@127.0.0.1:${port}/postgres`)
      return url
    },
    /** Stops the server if this process started it. */
    async stop(): Promise<void> {
      if (!child?.connected) return
      const ended = once(child, 'exit')
      child.ref()
      child.disconnect()
      await ended
    },
  }
}

/** How the child starts if this process is root: in a user namespace; where those are not allowed, see embedded-server.ts. */
async function asNobody(data: string): Promise<{ execPath?: string; execArgv: string[] }> {
  if (process.getuid?.() !== 0) return { execArgv: [] }
  const owner = await stat(data).catch(() => undefined)
  const { status } = spawnSync('unshare', [...NAMESPACE, 'true'])
  if (status === 0 && (owner?.uid ?? 0) === 0)
    return { execPath: 'unshare', execArgv: [...NAMESPACE, process.execPath] }
  // The user `postgres` has to be able to enter the folder.
  await chmod(dirname(data), (await stat(dirname(data))).mode | 0o011)
  return { execArgv: [] }
}

/** Kept next to the data folder, which belongs to another user if this process runs as root. */
async function passwordOf(data: string): Promise<string> {
  await mkdir(dirname(data), { recursive: true })
  const file = `${data}.password`
  await writeFile(file, randomBytes(18).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(() => {})
  return readFile(file, 'utf8')
}

/** The port of the server running on this folder, if any. */
async function runningPort(data: string): Promise<number | undefined> {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const port = Number(lines[3])
  if (!(port > 0)) return undefined
  const socket = connect({ port, host: '127.0.0.1' })
  const isOpen = await once(socket, 'connect').catch(() => undefined)
  socket.destroy()
  return isOpen && port
}
