import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { platform } from '../../runtime/platform.ts'

/** The longest table of connections that is looked at. */
const MAX_TABLE_CHARACTERS = 8_000_000

/**
 * Whether a connection comes from another user of this machine. Who may have the gateway start programs could be
 * anybody who reaches the loopback, if no token is set. Linux knows whose a connection is; elsewhere nobody is another.
 */
export async function isOtherUser(socket: Socket | undefined): Promise<boolean> {
  const { remotePort, localPort } = socket ?? {}
  const own = process.getuid?.()
  if (platform !== 'linux' || own === undefined || remotePort === undefined) return false
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(read))
  const owners = tables.flatMap(table => ownersOf(table, remotePort, localPort ?? 0))
  // Root can do everything in any case.
  return owners.length > 0 && owners.every(uid => uid !== own && uid !== 0)
}

async function read(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.slice(0, MAX_TABLE_CHARACTERS)
}

/** Of the rows `sl local remote … uid`, those that go from one port to the other. */
function ownersOf(table: string, from: number, to: number): number[] {
  const port = (number: number) => `:${number.toString(16).toUpperCase().padStart(4, '0')}`
  return table.split('\n').flatMap(line => {
    const [, local = '', remote = '', , , , , uid] = line.trim().split(/\s+/)
    return local.endsWith(port(from)) && remote.endsWith(port(to)) ? [Number(uid)] : []
  })
}
