import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { isOtherUser } from './same-user.ts'

const NOBODY = 65_534
/** Only root can be somebody else, and only Linux tells. */
const canTell = process.platform === 'linux' && process.getuid?.() === 0

const toClose: (() => void)[] = []
afterEach(() => {
  for (const close of toClose.splice(0)) close()
})

/** What the listening side has of a connection that `from` makes. */
async function connectionFrom(from: (port: number) => Socket | ChildProcess): Promise<Socket> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = once(server, 'connection')
  const client = from((server.address() as AddressInfo).port)
  const [socket] = (await connected) as [Socket]
  toClose.push(() => {
    if ('kill' in client) client.kill('SIGKILL')
    else client.destroy()
    socket.on('error', () => {}).destroy()
    server.close()
  })
  return socket
}

describe('whose a connection is', () => {
  it('is nobody else’s if it is one’s own, or none', async () => {
    const socket = await connectionFrom(port => connect(port, '127.0.0.1'))
    expect(await isOtherUser(socket)).toBe(false)
    expect(await isOtherUser(undefined)).toBe(false)
  })

  it.skipIf(!canTell)('tells another user of this machine from oneself', async () => {
    const code = 'require("node:net").connect(Number(process.argv[1]), "127.0.0.1")'
    const socket = await connectionFrom(port =>
      spawn(process.execPath, ['-e', code, String(port)], { uid: NOBODY, gid: NOBODY, cwd: '/' }),
    )
    expect(await isOtherUser(socket)).toBe(true)
  })
})
