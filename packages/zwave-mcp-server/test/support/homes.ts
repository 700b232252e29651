import { onTestFinished } from 'vitest'
import { VirtualHome, type VirtualHomeOptions } from '../../src/home/virtual-home.ts'

/** A virtual home that ends with the test. */
export async function startTestHome(options: VirtualHomeOptions): Promise<VirtualHome> {
  const home = new VirtualHome({ delayMs: 0, ...options })
  await home.start()
  onTestFinished(() => home.crash())
  return home
}
