import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { DurableOptions } from 'toolpost/project'

/** A query that takes longer has lost its server, for instance behind a cut link. */
const QUERY_TIMEOUT_MS = 30_000
/** The server drops a client that vanished without closing its connection (a cut link) within about six seconds. */
const SESSION = ['keepalives_idle=2', 'keepalives_interval=1', 'keepalives_count=4', 'user_timeout=6000']
/** Of the embedded PostgreSQL. */
const USER = 'toolpost'
/** A user namespace in which root's files belong to `nobody`: PostgreSQL refuses to run as root. */
const NAMESPACE = ['--user', '--map-user=65534', '--map-group=65534', '--']

/** How to connect to a database, under a name. */
export function connectionTo(url: URL, name = 'toolpost'): pg.ClientConfig {
  return {
    connectionString: url.href,
    application_name: name,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: QUERY_TIMEOUT_MS,
    options: SESSION.map(setting => `-c tcp_${setting}`).join(' '),
  }
}

/** Why a database cannot be used, and what to do about it. */
export class DatabaseProblem extends Error {}

const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is PostgreSQL running there?',
  ETIMEDOUT: 'does not answer; check the address and the firewall',
  ENOTFOUND: 'has an unknown host name; check the host in the URL',
  '28P01': 'rejects the password; check user and password in the URL',
  '28000': 'rejects this user; check the user in the URL and pg_hba.conf on the server',
  '3D000': 'has no such database; create it (createdb) or correct the name in the URL',
  '42501': 'does not let this user create tables; grant CREATE on the database',
  '53100': 'has no space left on its disk',
  '53300': 'has no free connections; raise max_connections or run fewer processes',
}

/** What an error of the driver says about the database at `place`, which must not include the password. */
export function problemOf(thrown: unknown, place: string): string {
  const error = thrown instanceof AggregateError ? thrown.errors[0] : thrown
  if (error instanceof DatabaseProblem) return error.message
  return `PostgreSQL at ${place} ${PROBLEMS[error?.code] ?? `cannot be used: ${error?.message || error}`}`
}

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
    if (error !== undefined && (await runningPort(data)) !== port)
      throw new DatabaseProblem(`The embedded PostgreSQL in ${data} could not be started: ${error}`)
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
