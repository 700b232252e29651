import { safeText } from '../logging/safe-value.ts'
import { STDERR_KEPT_BYTES } from './limits.ts'

const REMOVED = '[removed]'

/** The end of what a server wrote to stderr, without its secrets. However much it writes, no more is held. */
export class StderrTail {
  readonly #secrets: readonly string[]
  /** Written round and round. */
  readonly #ring: Buffer
  #written = 0

  constructor(secrets: readonly string[] = [], keptBytes = STDERR_KEPT_BYTES) {
    this.#secrets = secrets
    this.#ring = Buffer.alloc(keptBytes)
  }

  /** Keeps a copy: the chunk may be used again. */
  push(chunk: Buffer): void {
    const { length } = this.#ring
    this.#written += Math.max(0, chunk.length - length)
    const kept = chunk.subarray(-length)
    const at = this.#written % length
    const first = kept.copy(this.#ring, at)
    kept.copy(this.#ring, 0, first)
    this.#written += kept.length
  }

  /** The kept text, ready to be shown: secrets removed, control characters escaped line by line. */
  text(): string {
    const isCut = this.#written > this.#ring.length
    const kept = this.#bytes(isCut).toString('utf8')
    const whole = isCut ? fromFirstWholeLine(this.#withoutCutSecret(kept)) : kept
    return this.#withoutSecrets(whole)
      .split(/\r?\n/)
      .map(line => safeText(line, Number.POSITIVE_INFINITY))
      .join('\n')
      .trim()
  }

  #bytes(isCut: boolean): Buffer {
    if (!isCut) return this.#ring.subarray(0, this.#written)
    const at = this.#written % this.#ring.length
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)])
  }

  #withoutSecrets(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, REMOVED), text)
  }

  /** The beginning may be the second half of a secret, which no search for the whole would find. */
  #withoutCutSecret(text: string): string {
    const halves = this.#secrets.flatMap(secret => [...secret].map((_, at) => secret.slice(at)))
    const half = halves
      .filter(end => end.length > 0 && text.startsWith(end))
      .sort((a, b) => b.length - a.length)[0]
    return half ? text.slice(half.length) : text
  }
}

function fromFirstWholeLine(text: string): string {
  const newline = text.indexOf('\n')
  return newline >= 0 && newline < text.length - 1 ? text.slice(newline + 1) : text
}

/** The last lines of `text`, at most `maxCharacters`, beginning with a whole one where there is one. */
export function lastLines(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `… ${fromFirstWholeLine(text.slice(-maxCharacters))}`
}
