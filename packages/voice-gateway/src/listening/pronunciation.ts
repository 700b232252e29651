import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { espeakPhones } from './espeak-phones.ts'
import { lettersToPhones } from './letter-rules.ts'

/** Enough for one home and what is said in it. */
const REMEMBERED_WORDS = 20_000
const QUOTE = '"'

/**
 * How words are pronounced, in ARPABET without stress: from the CMU dictionary, else from espeak-ng, else by letter
 * rules. The dictionary stays a raw file: parsed, it would take 60 MB and half a second.
 */
export class Pronunciation {
  readonly #known = new Map<string, readonly string[]>()
  readonly #ranges = new Map<string, Buffer>()
  #file: Buffer | undefined

  phonesOf(word: string): readonly string[] {
    const known = this.#known.get(word)
    if (known) return known
    const phones = this.#lookUp(word) ?? lettersToPhones(word)
    if (this.#known.size >= REMEMBERED_WORDS) this.#known.clear()
    this.#known.set(word, phones)
    return phones
  }

  /** Asks espeak-ng for the words that the dictionary does not have. Never rejects. */
  async learn(words: Iterable<string>): Promise<void> {
    const unknown: string[] = []
    for (const word of words) {
      const phones = this.#known.get(word) ?? this.#lookUp(word)
      if (phones) this.#known.set(word, phones)
      else unknown.push(word)
    }
    for (const [word, phones] of await espeakPhones(unknown))
      if (phones.length > 0) this.#known.set(word, phones)
  }

  #lookUp(word: string): string[] | undefined {
    if (!/^[a-z][a-z'.-]*$/.test(word)) return undefined
    const lines = this.#wordsWith(word.charAt(0))
    const entry = `\n  ${QUOTE}${word}${QUOTE}: ${QUOTE}`
    const at = lines.indexOf(entry)
    if (at < 0) return undefined
    const start = at + entry.length
    const phones = lines.toString('latin1', start, lines.indexOf(QUOTE, start))
    return phones.replaceAll(/\d/g, '').split(' ')
  }

  /** The part of the file with the words that begin with a letter; they are contiguous. */
  #wordsWith(letter: string): Buffer {
    const known = this.#ranges.get(letter)
    if (known) return known
    this.#file ??= readFileSync(createRequire(import.meta.url).resolve('cmu-pronouncing-dictionary'))
    const start = this.#file.indexOf(`\n  ${QUOTE}${letter}`)
    const next = this.#file.indexOf(`\n  ${QUOTE}${String.fromCharCode(letter.charCodeAt(0) + 1)}`)
    const range = this.#file.subarray(Math.max(0, start), next < 0 ? undefined : next)
    this.#ranges.set(letter, range)
    return range
  }
}
