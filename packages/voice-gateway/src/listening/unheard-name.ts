import type { Meaning } from './grammar.ts'
import { saidWords } from './said-words.ts'

/** Commands are short; longer text is not searched. */
const MOST_WORDS = 12
const MOST_NAMES = 20
/** A name is misheard as a few words. */
const MOST_HEARD = 4

/**
 * The name that, in place of some of the words, would turn what was heard but not understood into a sentence: "turn on the
 * lamb pa". Names in another alphabet cannot be recognized, and the person should be told.
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

/** The words with some replaced by the name, but never the first: something must remain of what was said. */
function withName(words: readonly string[], name: string): string[] {
  return words.flatMap((_, at) =>
    at === 0
      ? []
      : Array.from({ length: Math.min(MOST_HEARD, words.length - at) }, (_, more) =>
          words.toSpliced(at, more + 1, name).join(' '),
        ),
  )
}
