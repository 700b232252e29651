import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { platform } from '../../runtime/platform.ts'

/** How much of the connection table is read. */
const MAX_TABLE_CHARACTERS = 8_000_000

/**
 * Whether a connection comes from another user of this machine. Without a token, anyone who reaches loopback could make
 * the gateway start programs. Only Linux tells who owns a connection; elsewhere the answer is always `false`.
 */
export async function isOtherUser(socket: Socket | undefined): Promise<boolean> {
  const { remotePort, localPort } = socket ?? {}
  const own = process.getuid?.()
  if (platform !== 'linux' || own === undefined || remotePort === undefined) return false
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(read))
  const owners = tables.flatMap(table => ownersOf(table, remotePort, localPort ?? 0))
  // Root can do anything anyway.
  return owners.length > 0 && owners.every(uid => uid !== own && uid !== 0)
}

async function read(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.slice(0, MAX_TABLE_CHARACTERS)
}

/** The uids of the rows `sl local remote … uid` that go from one port to the other. */
function ownersOf(table: string, from: number, to: number): number[] {
  const port = (number: number) => `:${number.toString(16).toUpperCase().padStart(4, '0')}`
  return table.split('\n').flatMap(line => {
    const [, local = '', remote = '', , , , , uid] = line.trim().split(/\s+/)
    return local.endsWith(port(from)) && remote.endsWith(port(to)) ? [Number(uid)] : []
  })
}
