import { ENDLESS_LINE_BYTES, LONG_LINE_ENDS_BYTES, MAX_LINE_BYTES } from './limits.ts'

/** Both ends of a line. */
export interface LineEnds {
  head: string
  /** Empty until the line has ended. */
  tail: string
  ended: boolean
}

/** A line over the limit, of which only the two ends were kept. */
export interface LongLine extends LineEnds {
  bytes: number
}

export interface LineEvents {
  line(text: string): void
  /** Called twice per line: when it exceeds the limit, and when it ends. */
  tooLong(line: LongLine): void
  /** The line does not end. Nothing more is read. */
  endless(bytes: number): void
}

export interface LineLimits {
  maxLineBytes?: number | undefined
  endlessLineBytes?: number | undefined
}

interface Skipped {
  head: string
  tail: Buffer
  bytes: number
}

const NEWLINE = 10
const EMPTY = Buffer.alloc(0)
const FIRST_CAPACITY = 4_096
/** A larger buffer is released after the line that needed it. */
const KEPT_CAPACITY = 1024 * 1024

/** Splits a stream of bytes into lines. Never holds more than one line of the maximum length. */
export class LineReader {
  readonly #events: LineEvents
  readonly #maxLineBytes: number
  readonly #endlessLineBytes: number
  /** The beginning of an incomplete line; the buffer doubles as it grows. */
  #partial = EMPTY
  #partialBytes = 0
  #skipped: Skipped | undefined
  #stopped = false

  constructor(events: LineEvents, limits: LineLimits = {}) {
    this.#events = events
    this.#maxLineBytes = limits.maxLineBytes ?? MAX_LINE_BYTES
    this.#endlessLineBytes = Math.max(limits.endlessLineBytes ?? ENDLESS_LINE_BYTES, this.#maxLineBytes)
  }

  push(chunk: Buffer): void {
    if (this.#stopped) return
    const lastNewline = chunk.lastIndexOf(NEWLINE)
    if (lastNewline < 0) return this.#keep(chunk)
    const first = this.#partialBytes > 0 || this.#skipped ? chunk.indexOf(NEWLINE) : -1
    if (first >= 0) this.#complete(chunk.subarray(0, first))
    if (first < lastNewline) this.#wholeLines(chunk.subarray(first + 1, lastNewline))
    if (lastNewline + 1 < chunk.length) this.#keep(chunk.subarray(lastNewline + 1))
  }

  /** What the stream ended with, if it did not end with a newline. */
  rest(): string {
    return this.#partial.toString('utf8', 0, this.#partialBytes)
  }

  #wholeLines(bytes: Buffer): void {
    // No line in it can be over the limit; decoding once and splitting makes many small messages fast.
    if (bytes.length <= this.#maxLineBytes) {
      for (const line of bytes.toString('utf8').split('\n')) this.#events.line(line)
      return
    }
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#complete(bytes.subarray(start, end))
      start = end + 1
    }
    this.#complete(bytes.subarray(start))
  }

  #complete(lastPart: Buffer): void {
    this.#keep(lastPart)
    const skipped = this.#skipped
    this.#skipped = undefined
    if (skipped) {
      this.#events.tooLong({ ...skipped, tail: skipped.tail.toString('utf8'), ended: true })
      return
    }
    const line = this.rest()
    this.#partialBytes = 0
    if (this.#partial.length > KEPT_CAPACITY) this.#partial = EMPTY
    this.#events.line(line)
  }

  #keep(part: Buffer): void {
    if (this.#skipped) return this.#skip(this.#skipped, part)
    const bytes = this.#partialBytes + part.length
    if (bytes > this.#maxLineBytes) return this.#startSkipping(part)
    if (bytes > this.#partial.length) this.#grow(bytes)
    part.copy(this.#partial, this.#partialBytes)
    this.#partialBytes = bytes
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#partial.length * 2, FIRST_CAPACITY))
    this.#partial.copy(grown, 0, 0, this.#partialBytes)
    this.#partial = grown
  }

  #startSkipping(part: Buffer): void {
    const held = this.#partial.subarray(0, this.#partialBytes)
    const head = Buffer.concat([
      held.subarray(0, LONG_LINE_ENDS_BYTES),
      part.subarray(0, LONG_LINE_ENDS_BYTES),
    ])
    const skipped: Skipped = {
      head: head.toString('utf8', 0, LONG_LINE_ENDS_BYTES),
      tail: lastBytes(held.subarray(-LONG_LINE_ENDS_BYTES), part),
      bytes: held.length + part.length,
    }
    this.#partial = EMPTY
    this.#partialBytes = 0
    this.#skipped = skipped
    this.#events.tooLong({ head: skipped.head, tail: '', bytes: skipped.bytes, ended: false })
  }

  #skip(skipped: Skipped, part: Buffer): void {
    skipped.bytes += part.length
    skipped.tail = lastBytes(skipped.tail, part)
    if (skipped.bytes <= this.#endlessLineBytes) return
    this.#stopped = true
    this.#events.endless(skipped.bytes)
  }
}

/** A copy of the last bytes of both, so that no large chunk is kept alive. */
function lastBytes(before: Buffer, after: Buffer): Buffer {
  if (after.length >= LONG_LINE_ENDS_BYTES) return Buffer.from(after.subarray(-LONG_LINE_ENDS_BYTES))
  return Buffer.concat([before, after]).subarray(-LONG_LINE_ENDS_BYTES)
}

// Where servers put the id: after `jsonrpc` (Python, Go, Rust, Java) or at the very end (TypeScript). Nowhere
// else, because the result itself may contain anything that looks like one.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(-?\d{1,15})"?\s*,/
const ID_LAST = /[}\]"\d]\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(-?\d{1,15})"?\s*\}\s*$/

/** The id of the message in an overlong line, if it can be found in its ends. */
export function idOfLongLine({ head, tail }: Pick<LineEnds, 'head' | 'tail'>): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1]
  return id === undefined ? undefined : Number(id)
}
