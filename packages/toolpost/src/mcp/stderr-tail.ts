import { safeText } from '../logging/safe-value.ts'
import { STDERR_KEPT_BYTES } from './limits.ts'

const REMOVED = '[removed]'

/** The end of what a server wrote to stderr, without its secrets. However much it writes, no more is held. */
export class StderrTail {
  readonly #secrets: readonly string[]
  readonly #keptBytes: number
  #chunks: Buffer[] = []
  #bytes = 0
  #cut = false

  constructor(secrets: readonly string[] = [], keptBytes = STDERR_KEPT_BYTES) {
    this.#secrets = secrets
    this.#keptBytes = keptBytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    for (let first = this.#chunks[0]; first && this.#bytes - first.length >= this.#keptBytes; first = this.#chunks[0]) {
      this.#chunks.shift()
      this.#bytes -= first.length
      this.#cut = true
    }
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** The kept text, ready to be shown: secrets removed, control characters escaped line by line. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks)
    const isCut = this.#cut || bytes.length > this.#keptBytes
    const kept = bytes.subarray(-this.#keptBytes).toString('utf8')
    const whole = isCut ? fromFirstWholeLine(this.#withoutCutSecret(kept)) : kept
    return this.#withoutSecrets(whole)
      .split(/\r?\n/)
      .map(line => safeText(line, Number.POSITIVE_INFINITY))
      .join('\n')
      .trim()
  }

  #withoutSecrets(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, REMOVED), text)
  }

  /** The beginning may be the second half of a secret, which no search for the whole would find. */
  #withoutCutSecret(text: string): string {
    const halves = this.#secrets.flatMap(secret => [...secret].map((_, at) => secret.slice(at)))
    const half = halves.filter(end => end.length > 0 && text.startsWith(end)).sort((a, b) => b.length - a.length)[0]
    return half ? text.slice(half.length) : text
  }
}

/** Many small writes are joined now and then, so that they do not cost more than they hold. */
const MAX_CHUNKS = 256

function fromFirstWholeLine(text: string): string {
  const newline = text.indexOf('\n')
  return newline >= 0 && newline < text.length - 1 ? text.slice(newline + 1) : text
}

/** The last lines of `text`, at most `maxCharacters`, beginning with a whole one where there is one. */
export function lastLines(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `… ${fromFirstWholeLine(text.slice(-maxCharacters))}`
}
