import { removeFromLogs, safeLines } from '../logging/safe-value.ts'
import { STDERR_KEPT_BYTES } from './limits.ts'

/** The end of what a server wrote to stderr, without its secrets. However much it writes, no more is held. */
export class StderrTail {
  readonly #longestSecret: number
  /** Written round and round. */
  readonly #ring: Buffer
  #written = 0
  /** Made when it is asked for, and again after more was written: statuses are read more often than servers write. */
  #text: string | undefined

  constructor(secrets: readonly string[] = [], keptBytes = STDERR_KEPT_BYTES) {
    removeFromLogs(secrets)
    this.#longestSecret = Math.max(0, ...secrets.map(secret => secret.length))
    this.#ring = Buffer.alloc(keptBytes)
  }

  /** Keeps a copy: the chunk may be used again. */
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

  /** The kept text, ready to be shown: secrets removed, control characters escaped line by line. */
  text(): string {
    this.#text ??= this.#read().trim()
    return this.#text
  }

  #read(): string {
    if (this.#written <= this.#ring.length) return safeLines(this.#ring.toString('utf8', 0, this.#written))
    const at = this.#written % this.#ring.length
    const kept = Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]).toString('utf8')
    const whole = fromFirstWholeLine(kept)
    // Within a line it may begin with the second half of a secret, which no search for the whole would find.
    return whole === kept ? safeLines(kept).slice(this.#longestSecret) : safeLines(whole)
  }
}

function fromFirstWholeLine(text: string): string {
  const newline = text.indexOf('\n')
  return newline >= 0 && newline < text.length - 1 ? text.slice(newline + 1) : text
}

/** The last lines of `text`, at most `maxCharacters`, beginning with a whole one if there is one. */
export function lastLines(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `… ${fromFirstWholeLine(text.slice(-maxCharacters))}`
}
