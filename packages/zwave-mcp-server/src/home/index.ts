import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { VirtualHome, type VirtualHomeOptions } from './virtual-home.ts'

export type { DeviceDescription, Drift, SceneDescription, ValueDescription } from './virtual-device.ts'
export { DEFAULT_DEVICES, describeDevices, type VirtualDevice } from './virtual-device.ts'
export { type ReceivedCommand, VirtualHome, type VirtualHomeOptions } from './virtual-home.ts'

export interface HomeOptions extends Omit<VirtualHomeOptions, 'brokerUrl'> {
  /** An already running broker; by default, one is started in this process. */
  readonly brokerUrl?: string | undefined
  /** The port of that broker; default: any free one. */
  readonly port?: number | undefined
}

const LOOPBACK = '127.0.0.1'

/** Starts an MQTT broker (aedes) that only this machine can reach. Closing it cuts clients off and loses what is retained. */
export async function startBroker({ port = 0 }: { port?: number | undefined } = {}) {
  const { Aedes } = await import('aedes')
  const broker = await Aedes.createBroker()
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    // Send small packets immediately: a switch should not wait for the next one.
    socket.setNoDelay(true)
    sockets.add(socket.once('close', () => sockets.delete(socket)))
    broker.handle(socket)
  })
  await once(server.listen(port, LOOPBACK), 'listening')
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `mqtt://${LOOPBACK}:${actual}`,
    port: actual,
    close: async () => {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => broker.close(resolve))
      await closed
    },
  }
}

/** Starts a virtual home, with an embedded broker unless one is given; resolves once its state is published. */
export async function startHome({ brokerUrl, port, ...options }: HomeOptions = {}) {
  const broker = brokerUrl ? undefined : await startBroker({ port })
  const url = broker?.url ?? brokerUrl ?? ''
  const home = new VirtualHome({ ...options, brokerUrl: url })
  await home.start()
  const close = async () => {
    await home.stop()
    await broker?.close()
  }
  return { url, home, close }
}
