import type { Meaning } from './grammar.ts'
import { saidWords } from './said-words.ts'

/** Commands are short; what is longer is not looked through. */
const MOST_WORDS = 12
const MOST_NAMES = 20
/** A name is heard as a few words. */
const MOST_HEARD = 4

/**
 * The name that would make a sentence of what was heard and not understood, if it stood where other words do: "turn on the
 * lamb pa". Names in another alphabet cannot be heard, and whoever says one should be told.
 */
export function unheardName(
  text: string,
  names: readonly string[],
  understand: (text: string) => Meaning,
): string | undefined {
  const words = saidWords(text)
  if (words.length > MOST_WORDS) return undefined
  return names.slice(0, MOST_NAMES).find(name =>
    withName(words, name).some(said => {
      const { kind, isGuess } = understand(said)
      return (kind === 'act' || kind === 'tell') && !isGuess
    }),
  )
}

/** The words with the name instead of some of them, but never of the first: something must be left of what was said. */
function withName(words: readonly string[], name: string): string[] {
  return words.flatMap((_, at) =>
    at === 0
      ? []
      : Array.from({ length: Math.min(MOST_HEARD, words.length - at) }, (_, more) =>
          words.toSpliced(at, more + 1, name).join(' '),
        ),
  )
}
