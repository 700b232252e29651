import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a broker that a test can shut and open: the broker and its other clients notice nothing. */
export async function gateTo(brokerUrl: string) {
  const { hostname, port } = new URL(brokerUrl)
  const sockets = new Set<Socket>()
  let isOpen = true
  const server = createServer(inside => {
    if (!isOpen) return void inside.destroy()
    const outside = connect(Number(port), hostname)
    inside.pipe(outside).pipe(inside)
    for (const socket of [inside, outside]) sockets.add(socket.on('error', () => {}))
    inside.on('close', () => outside.destroy())
    outside.on('close', () => inside.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const shut = () => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  onTestFinished(() => {
    shut()
    server.close()
  })
  const address = server.address()
  return {
    url: `mqtt://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`,
    shut,
    open: () => {
      isOpen = true
    },
  }
}
