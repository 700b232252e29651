import { removeFromLogs } from '../logging/redact.ts'
import { safeLines } from '../logging/safe-value.ts'
import { STDERR_KEPT_BYTES } from './limits.ts'

/** The tail of a server's stderr, without its secrets. Bounded, however much it writes. */
export class StderrTail {
  readonly #longestSecret: number
  #kept = Buffer.alloc(0)
  #isCut = false
  /** Cached until more is written: statuses are read more often than servers write. */
  #text: string | undefined

  constructor(secrets: readonly string[] = []) {
    removeFromLogs(secrets)
    this.#longestSecret = Math.max(0, ...secrets.map(secret => secret.length))
  }

  push(chunk: Buffer): void {
    this.#text = undefined
    this.#isCut ||= this.#kept.length + chunk.length > STDERR_KEPT_BYTES
    const all = Buffer.concat([this.#kept, chunk.subarray(-STDERR_KEPT_BYTES)])
    this.#kept = all.subarray(-STDERR_KEPT_BYTES)
  }

  /** The kept text, safe to show: secrets removed, control characters escaped line by line. */
  text(): string {
    this.#text ??= this.#read().trim()
    return this.#text
  }

  #read(): string {
    const kept = this.#kept.toString('utf8')
    if (!this.#isCut) return safeLines(kept)
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
