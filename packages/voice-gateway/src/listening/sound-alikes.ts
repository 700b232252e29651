import type { SentenceGraph } from 'toolpost/models'

/** Far more than a home has; a graph of a million words would not be worth the time. */
const MOST_WORDS = 20_000
const MOST_ALIKES = 8

/** Homophones among the words of a graph: "one" and "won". */
export class SoundAlikes {
  readonly #byWord = new Map<string, readonly string[]>()

  constructor(graph: SentenceGraph, phonesOf: (word: string) => readonly string[]) {
    const bySound = new Map<string, string[]>()
    for (const word of wordsOf(graph)) {
      const sound = phonesOf(word).join(' ')
      bySound.set(sound, [...(bySound.get(sound) ?? []), word])
    }
    for (const words of bySound.values())
      if (words.length > 1) for (const word of words) this.#byWord.set(word, words)
  }

  /** A sentence with one word at a time replaced by its homophones. */
  of(text: string): string[] {
    const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []
    return words
      .flatMap((word, at) =>
        (this.#byWord.get(word) ?? [])
          .filter(other => other !== word)
          .map(other => words.toSpliced(at, 1, other).join(' ')),
      )
      .slice(0, MOST_ALIKES)
  }
}

export function wordsOf({ rules }: SentenceGraph): Set<string> {
  const words = new Set<string>()
  for (const { arcs } of rules)
    for (const state of arcs)
      for (const [label] of state) if (typeof label === 'string' && words.size < MOST_WORDS) words.add(label)
  return words
}
