import { existsSync } from 'node:fs'
import { chown, mkdir, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseProblem } from '../database/database-problem.ts'
import { isWindows } from './platform.ts'
import { run } from './run-program.ts'

/** The user PostgreSQL runs as. It refuses to run as root. */
export interface ServerUser {
  uid?: number
  gid?: number
  /** Prepended to every command. */
  prefix: readonly string[]
}

/** A user namespace in which root's files belong to a user other than root. */
const NAMESPACE = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--']

/**
 * Creates the folder and picks the user that owns it and runs its server: the current user, or for root `postgres` (created
 * if missing), or if that user cannot access the folder or `program`, root in a user namespace.
 */
export async function serverUser(data: string, program: string): Promise<ServerUser> {
  const isMade = existsSync(join(data, 'PG_VERSION'))
  await mkdir(data, { recursive: true, mode: 0o700 })
  if (!isRoot()) return { prefix: [] }
  if (isMade && (await stat(data)).uid === 0) return { prefix: NAMESPACE }
  const user = await postgresUser()
  if (user && (await canReach(user, [dirname(data), program]))) {
    await chown(data, user.uid, user.gid)
    return { ...user, prefix: [] }
  }
  if (!isMade && (await hasNamespaces())) return { prefix: NAMESPACE }
  throw new DatabaseProblem(
    `PostgreSQL does not run as root, and the user 'postgres' cannot access ${data} and ${program}. Make their parent folders accessible (chmod o+x), run Toolpost as another user, or set "durable": { "databaseUrl": … }`,
  )
}

/** Runs a program as the server's user. */
export function runAs({ uid, gid, prefix }: ServerUser, command: readonly string[]): Promise<unknown> {
  const [program = '', ...args] = [...prefix, ...command]
  return run(program, args, uid === undefined || gid === undefined ? {} : { uid, gid })
}

function isRoot(): boolean {
  return !isWindows && userInfo().uid === 0
}

async function canReach(user: { uid: number; gid: number }, paths: readonly string[]): Promise<boolean> {
  const reached = paths.map(path => run('test', ['-x', path], user))
  return (await Promise.allSettled(reached)).every(({ status }) => status === 'fulfilled')
}

async function hasNamespaces(): Promise<boolean> {
  return runAs({ prefix: NAMESPACE }, ['true']).then(
    () => true,
    () => false,
  )
}

async function postgresUser(): Promise<{ uid: number; gid: number } | undefined> {
  const known = await idsOf('postgres')
  if (known) return known
  await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']).catch(() => {})
  return idsOf('postgres')
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async flag => Number((await run('id', [flag, user])).stdout.trim())),
    )
    return uid && gid ? { uid, gid } : undefined
  } catch {
    return undefined
  }
}
