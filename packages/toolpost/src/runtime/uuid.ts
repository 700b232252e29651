import { randomUUID } from 'node:crypto'

let lastMs = 0
let count = 0

/** A UUIDv7: unique across processes; sorts by `time`, and within one millisecond in the order of the calls. */
export function uuidv7(time: number): string {
  count = time === lastMs ? (count + 1) % 0x1000 : 0
  lastMs = time
  const ms = time.toString(16).padStart(12, '0')
  const sequence = count.toString(16).padStart(3, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${sequence}${randomUUID().slice(18)}`
}
