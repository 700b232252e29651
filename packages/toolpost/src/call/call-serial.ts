import { randomUUID } from 'node:crypto'

/** Tells processes apart. */
const random = randomUUID().slice(18)
let count = 0

/** A UUIDv7 for a call that begins at `time`: unique across processes, and sorts by time. */
export function callSerial(time: number): string {
  count = (count + 1) % 0x1000
  const ms = time.toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${count.toString(16).padStart(3, '0')}${random}`
}
