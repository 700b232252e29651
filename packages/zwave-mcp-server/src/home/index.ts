import { startBroker } from './broker.ts'
import { VirtualHome, type VirtualHomeOptions } from './virtual-home.ts'

export { type BrokerOptions, type EmbeddedBroker, startBroker } from './broker.ts'
export { DEFAULT_DEVICES } from './default-devices.ts'
export { describeDevices } from './describe-devices.ts'
export type { SceneDescription } from './virtual-api.ts'
export type { DeviceDescription, Drift, VirtualDevice } from './virtual-device.ts'
export { type ReceivedCommand, VirtualHome, type VirtualHomeOptions } from './virtual-home.ts'
export type { ValueDescription } from './virtual-values.ts'

export interface HomeOptions extends Omit<VirtualHomeOptions, 'brokerUrl'> {
  /** An already running broker; by default, one is started in this process. */
  readonly brokerUrl?: string | undefined
  /** The port of the broker to start; default: any free port. */
  readonly port?: number | undefined
}

export interface RunningHome {
  readonly url: string
  readonly home: VirtualHome
  close(): Promise<void>
}

/** Starts a virtual home, with an embedded broker unless one is given; resolves once its state is published. */
export async function startHome({ brokerUrl, port, ...options }: HomeOptions = {}): Promise<RunningHome> {
  const broker = brokerUrl ? undefined : await startBroker({ port })
  const url = broker?.url ?? brokerUrl ?? ''
  const home = new VirtualHome({ ...options, brokerUrl: url })
  await home.start()
  return {
    url,
    home,
    close: async () => {
      await home.stop()
      await broker?.close()
    },
  }
}
