import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { isWindows } from './platform.ts'
import type { ServerUser } from './server-user.ts'

/** How many others are connected. */
export async function countOthers(url: URL): Promise<number> {
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    )
    return rows[0]?.count ?? 0
  } finally {
    await client.end()
  }
}

/**
 * Makes sure that the server stops once nobody uses it, even if this process is killed: a shell waits for the end of a pipe
 * that only this process holds open, and then execs a Node that checks who is connected. Returns a function that closes the
 * pipe.
 */
export function releaseWhenUnused(url: URL, stopCommand: readonly string[], user: ServerUser): () => void {
  const script = fileURLToPath(new URL('../../dist/embedded/release.js', import.meta.url))
  const args = [process.execPath, script]
  const [program, ...programArgs] = isWindows
    ? args
    : ['/bin/sh', '-c', 'cat > /dev/null; exec "$@"', 'sh', ...args]
  const child = spawn(program ?? process.execPath, programArgs, {
    ...{ stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/', windowsHide: true },
    // Not on the command line, where any user could read the password.
    env: { ...process.env, TOOLPOST_RELEASE: JSON.stringify({ url: url.href, stopCommand, user }) },
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  child.unref()
  ;(child.stdin as unknown as { unref?(): void } | null)?.unref?.()
  return () => child.stdin?.end()
}
