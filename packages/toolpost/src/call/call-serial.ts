import { randomUUID } from 'node:crypto'

/** Tells processes apart. */
const random = randomUUID().slice(18)
let last = -1
let prefix = ''
let count = 0

/** A UUIDv7 for a call that begins at `time`: unique across processes, and sorts by time. */
export function callSerial(time: number): string {
  if (time !== last) {
    const ms = time.toString(16).padStart(12, '0')
    prefix = `${ms.slice(0, 8)}-${ms.slice(8)}-7`
    last = time
  }
  count = (count + 1) % 0x1000
  return `${prefix}${(0x1000 + count).toString(16).slice(1)}${random}`
}
