import { ENDLESS_LINE_BYTES } from './limits.ts'

/** What is kept of an overlong line. */
export interface LineEnds {
  head: string
  tail: string
}

interface LongLine extends LineEnds {
  bytes: number
  /** `false` as soon as it is over the limit, `true` once more when it has ended. */
  ended: boolean
}

export interface LineEvents {
  line(line: string): void
  tooLong(line: LongLine): void
  /** A line over a gigabyte never ends. Nothing more is read. */
  endless(bytes: number): void
}

const NEWLINE = 10
/** How much of both ends of an overlong line is kept, to tell which request it belongs to. */
export const KEPT_BYTES = 1_024

/** Splits a stream of bytes into lines. Never holds more than one line of the maximum length. */
export class LineReader {
  readonly #maxBytes: number
  readonly #events: LineEvents
  /** The beginning of an incomplete line. */
  #parts: Buffer[] = []
  #bytes = 0
  /** The ends of a line that is over the limit. */
  #skipped: { head: string; tail: Buffer } | undefined
  #stopped = false

  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes
    this.#events = events
  }

  push(chunk: Buffer): void {
    let start = 0
    const last = chunk.lastIndexOf(NEWLINE)
    if (this.#bytes > 0 || chunk.length > this.#maxBytes) {
      for (
        let end = chunk.indexOf(NEWLINE);
        end >= 0 && !this.#stopped;
        end = chunk.indexOf(NEWLINE, start)
      ) {
        this.#keep(chunk.subarray(start, end))
        this.#complete()
        start = end + 1
        if (chunk.length <= this.#maxBytes) break
      }
    }
    // No line in it can be over the limit; decoding once and splitting makes many small messages fast.
    if (start < last)
      for (const line of chunk.toString('utf8', start, last).split('\n')) this.#events.line(line)
    this.#keep(chunk.subarray(Math.max(start, last + 1)))
  }

  /** What the stream ended with, if it did not end with a newline. */
  rest(): string {
    return this.#skipped ? '' : Buffer.concat(this.#parts).toString('utf8')
  }

  #keep(part: Buffer): void {
    if (part.length === 0 || this.#stopped) return
    this.#bytes += part.length
    const skipped = this.#skipped
    if (skipped) {
      skipped.tail = lastOf(Buffer.concat([skipped.tail, part.subarray(-KEPT_BYTES)]))
      if (this.#bytes > Math.max(ENDLESS_LINE_BYTES, this.#maxBytes)) {
        this.#stopped = true
        this.#events.endless(this.#bytes)
      }
      return
    }
    this.#parts.push(part)
    if (this.#bytes <= this.#maxBytes) return
    const all = Buffer.concat(this.#parts)
    this.#parts = []
    this.#skipped = { head: all.toString('utf8', 0, KEPT_BYTES), tail: lastOf(all) }
    this.#events.tooLong({ head: this.#skipped.head, tail: '', bytes: this.#bytes, ended: false })
  }

  #complete(): void {
    const skipped = this.#skipped
    const bytes = this.#bytes
    const line = this.rest()
    this.#parts = []
    this.#bytes = 0
    this.#skipped = undefined
    if (skipped) this.#events.tooLong({ ...skipped, tail: skipped.tail.toString('utf8'), bytes, ended: true })
    else this.#events.line(line)
  }
}

/** A copy, so that no large chunk is kept alive. */
function lastOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-KEPT_BYTES))
}

// Where servers put the id: after `jsonrpc` (Python, Go, Rust, Java) or at the very end (TypeScript). Nowhere else, because
// the result itself may contain anything that looks like one.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(-?\d{1,15})"?\s*,/
const ID_LAST = /[}\]"\d]\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(-?\d{1,15})"?\s*\}\s*$/

/** The id of the message in an overlong line, if it can be found in its ends. */
export function idOfLongLine({ head, tail }: LineEnds): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1]
  return id === undefined ? undefined : Number(id)
}
