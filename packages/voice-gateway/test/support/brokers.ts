import { once } from 'node:events'
import { createServer } from 'node:net'
import { Aedes } from 'aedes'
import { onTestFinished } from 'vitest'

export { hasMosquitto, mosquittoBroker } from '../../../zwave-mcp-server/test/support/brokers.ts'

/** A broker inside of the test. */
export async function aedesBroker() {
  const broker = await Aedes.createBroker()
  const server = createServer(socket => void broker.handle(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await new Promise<void>(resolve => broker.close(resolve))
  })
  const address = server.address()
  const port = address && typeof address === 'object' ? address.port : 0
  return { broker, url: `mqtt://127.0.0.1:${port}` }
}
