import { type ExecFileOptions, execFile } from 'node:child_process'
import { userInfo } from 'node:os'

/** The user and group that PostgreSQL runs as; nothing unless this process is root's, which it refuses. */
export interface Owner {
  uid?: number
  gid?: number
}

/** Runs a program to its end; rejects with what it said if it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<{ stdout: string }> {
  return new Promise((resolve, reject) =>
    execFile(program, args, { encoding: 'utf8', timeout: 60_000, ...options }, (error, stdout, stderr) => {
      if (!error) return resolve({ stdout: String(stdout) })
      const said = `${stderr}${stdout}`.trim().split('\n').slice(-4).join(' ')
      reject(new Error(said || error.message))
    }),
  )
}

/** A user for PostgreSQL if this process is root's: `postgres`, which is created if there is none. */
export async function ownerOf(): Promise<Owner> {
  if (process.platform === 'win32' || userInfo().uid !== 0) return {}
  const known = await idsOf('postgres')
  if (known) return known
  await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'])
  const made = await idsOf('postgres')
  if (!made) throw new Error("a user 'postgres' could not be created")
  return made
}

async function idsOf(user: string): Promise<Owner | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async flag => Number((await run('id', [flag, user])).stdout.trim())),
    )
    return uid && gid ? { uid, gid } : undefined
  } catch {
    return undefined
  }
}
