import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { DatabaseProblem, messageOf } from '../database/database-problem.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { FolderLock, isAlive } from './folder-lock.ts'
import { runAs, type ServerUser, serverUser } from './server-user.ts'
import { countOthers, releaseWhenUnused } from './users.ts'

const USER = 'toolpost'
/** Small, for one household or team; commits are still written through to disk. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=32MB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'jit=off',
]

interface Folder {
  data: string
  /** Next to the data folder, which belongs to another user if this process runs as root. */
  passwordFile: string
  logFile: string
  user: ServerUser
  binaries: Binaries
}

/**
 * Starts the PostgreSQL of a folder unless it is running; the first time, it is created. It outlives this process if others
 * use it, and stops when nobody does. Throws a `DatabaseProblem`.
 */
export async function startEmbedded(
  dataDir: string,
  onNotice: (text: string) => void = () => {},
): Promise<{ url: URL; stop: () => Promise<void> }> {
  const folder = await prepareFolder(resolve(dataDir))
  const lock = await FolderLock.take(`${folder.data}.lock`)
  try {
    const isNew = !existsSync(join(folder.data, 'PG_VERSION'))
    if (isNew) onNotice(`Creating PostgreSQL in ${folder.data}; this happens once and takes a few seconds …`)
    if (isNew) await make(folder)
    else await checkMajor(folder)
    const port = (await runningPort(folder)) ?? (await start(folder))
    const url = await urlOf(folder, port)
    if (isNew) onNotice('PostgreSQL is ready')
    const release = releaseWhenUnused(url, stopCommand(folder), folder.user)
    return { url, stop: () => stop(folder, url, release) }
  } catch (error) {
    if (error instanceof DatabaseProblem) throw error
    throw new DatabaseProblem(
      `The embedded PostgreSQL in ${folder.data} could not be started: ${messageOf(error)}. See its log: ${folder.logFile}`,
      { cause: error },
    )
  } finally {
    await lock.release()
  }
}

async function prepareFolder(data: string): Promise<Folder> {
  const binaries = await findBinaries()
  const user = await serverUser(data, binaries.postgres)
  return { data, passwordFile: `${data}.password`, logFile: join(data, 'server.log'), user, binaries }
}

async function make({ data, passwordFile, user, binaries }: Folder): Promise<void> {
  const password = randomBytes(18).toString('base64url')
  const given = `${passwordFile}.new`
  await writeFile(given, password, { mode: 0o600 })
  if (user.uid !== undefined && user.gid !== undefined) await chown(given, user.uid, user.gid)
  try {
    const flags = [`--pgdata=${data}`, `--username=${USER}`, `--pwfile=${given}`, '--auth=scram-sha-256']
    await runAs(user, [binaries.initdb, ...flags, '--encoding=UTF8', '--no-locale'])
    await writeFile(passwordFile, password, { mode: 0o600 })
    await chmod(passwordFile, 0o600)
  } finally {
    await rm(given, { force: true })
  }
}

async function checkMajor({ data, binaries }: Folder): Promise<void> {
  const major = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
  if (major === binaries.major) return
  throw new DatabaseProblem(
    `The data in ${data} belongs to PostgreSQL ${major}, but this release ships ${binaries.major}. It was left unchanged: see "Upgrade" in docs/durable.md, or move the folder away to start afresh`,
  )
}

/** The port of the server running on this folder, if any. */
async function runningPort({ data }: Folder): Promise<number | undefined> {
  try {
    const [pid, , , port] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
    return isAlive(Number(pid)) ? Number(port) : undefined
  } catch {
    return undefined
  }
}

async function start({ data, logFile, user, binaries }: Folder): Promise<number> {
  const port = await freePort()
  const settings = [`-p ${port}`, ...SETTINGS.map(setting => `-c ${setting}`)].join(' ')
  await runAs(user, [binaries.pg_ctl, '-D', data, '-l', logFile, '-o', settings, '-w', '-t', '30', 'start'])
  return port
}

async function urlOf({ passwordFile }: Folder, port: number): Promise<URL> {
  const password = await readFile(passwordFile, 'utf8').catch(() => {
    throw new DatabaseProblem(`The password of the embedded PostgreSQL is missing: ${passwordFile}`)
  })
  return new URL(`postgresql://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`)
}

function stopCommand({ binaries, data }: Folder): string[] {
  return [binaries.pg_ctl, '-D', data, '-m', 'fast', '-w', '-t', '30', 'stop']
}

/** Stops the server unless others use it, in which case the last of them does. */
async function stop(folder: Folder, url: URL, release: () => void): Promise<void> {
  const others = await countOthers(url).catch(() => 0)
  if (others === 0) await runAs(folder.user, stopCommand(folder)).catch(() => {})
  release()
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
