import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { espeakPhones } from './espeak-phones.ts'
import { lettersToPhones } from './letter-rules.ts'

/** Words of one home and of what is said in it; more are not remembered. */
const REMEMBERED_WORDS = 20_000
const QUOTE = '"'

/**
 * How words are said, in ARPABET without stress: from the CMU dictionary, else as espeak-ng says them, else by rules for the letters. The dictionary
 * stays the file that it is: as an object it would take 60 MB and half a second.
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

  /** Asks espeak-ng how those words are said that the dictionary does not have. Never rejects. */
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

  /** The part of the file with the words of a first letter; they stand together. */
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
