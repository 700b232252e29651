import { removeFromLogs } from '../logging/redact.ts'
import { safeLines } from '../logging/safe-value.ts'
import { STDERR_KEPT_BYTES } from './limits.ts'

/** The tail of a server's stderr, without its secrets. Bounded, however much it writes. */
export class StderrTail {
  readonly #longestSecret: number
  /** A ring buffer. */
  readonly #ring: Buffer
  #written = 0
  /** Cached until more is written: statuses are read more often than servers write. */
  #text: string | undefined

  constructor(secrets: readonly string[] = [], keptBytes = STDERR_KEPT_BYTES) {
    removeFromLogs(secrets)
    this.#longestSecret = Math.max(0, ...secrets.map(secret => secret.length))
    this.#ring = Buffer.alloc(keptBytes)
  }

  /** Copies the chunk, which may be reused. */
  push(chunk: Buffer): void {
    const { length } = this.#ring
    this.#text = undefined
    this.#written += Math.max(0, chunk.length - length)
    const kept = chunk.subarray(-length)
    const at = this.#written % length
    const first = kept.copy(this.#ring, at)
    kept.copy(this.#ring, 0, first)
    this.#written += kept.length
  }

  /** The kept text, safe to show: secrets removed, control characters escaped line by line. */
  text(): string {
    this.#text ??= this.#read().trim()
    return this.#text
  }

  #read(): string {
    if (this.#written <= this.#ring.length) return safeLines(this.#ring.toString('utf8', 0, this.#written))
    const at = this.#written % this.#ring.length
    const kept = Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]).toString('utf8')
    const whole = fromFirstWholeLine(kept)
    // In the middle of a line, it may start with the second half of a secret, which a search for the whole would miss.
    return whole === kept ? safeLines(kept).slice(this.#longestSecret) : safeLines(whole)
  }
}

function fromFirstWholeLine(text: string): string {
  const newline = text.indexOf('\n')
  return newline >= 0 && newline < text.length - 1 ? text.slice(newline + 1) : text
}

/** The last lines of `text`, at most `maxCharacters`, starting with a whole line if possible. */
export function lastLines(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `… ${fromFirstWholeLine(text.slice(-maxCharacters))}`
}
