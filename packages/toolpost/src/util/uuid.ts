import { randomUUID } from 'node:crypto'

let lastMs = -1
let count = 0
let prefix = ''
let random = ''

/** A UUIDv7: unique across processes; sorts by `time`, and within one millisecond in the order of the calls. */
export function uuidv7(time: number): string {
  count = time === lastMs ? (count + 1) % 0x1000 : 0
  if (count === 0) {
    lastMs = time
    const ms = time.toString(16).padStart(12, '0')
    prefix = `${ms.slice(0, 8)}-${ms.slice(8)}-7`
    random = randomUUID().slice(18)
  }
  return `${prefix}${count.toString(16).padStart(3, '0')}${random}`
}
