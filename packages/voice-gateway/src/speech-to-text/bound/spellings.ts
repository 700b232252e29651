import { type NumberSoFar, nextNumber } from './spoken-numbers.ts'
import type { WordState } from './word-state.ts'

/** One way to write what may be said next, the words it stands for, and the state after it. */
export interface Spelling {
  letters: string
  words: string
  after: WordState
}

/** Numbers in a home have three words at most; those of a calculation may have more and are then written in words. */
const MOST_NUMBER_WORDS = 5
const MOST_NUMBERS = 1_200
/** Signs written after figures and spoken as words. */
const SIGNS = new Map([
  ['%', 'percent'],
  ['°', 'degrees'],
])
const CONTRACTED = ['what', 'where', 'who', 'how', 'it', 'there', 'that']

/** Every spelling allowed next: plain words, numbers as digits, contractions ("what's", "I'd"). */
export function spellings(state: WordState): Spelling[] {
  return [...words(state), ...figures(state), ...contractions(state)]
}

function words(state: WordState): Spelling[] {
  return [...state.words()].flatMap(word => spelling(word, word, state.after(word)))
}

function figures(state: WordState): Spelling[] {
  const found: Spelling[] = []
  const follow = (at: WordState, said: readonly string[], number: NumberSoFar | undefined): void => {
    if (said.length > MOST_NUMBER_WORDS || found.length > MOST_NUMBERS) return
    if (number && /\d$/.test(number.figures)) found.push(...withSigns(number.figures, said.join(' '), at))
    for (const word of at.words()) {
      const next = nextNumber(number, word)
      const after = next && at.after(word)
      if (after) follow(after, [...said, word], next)
    }
  }
  follow(state, [], undefined)
  return found
}

function withSigns(letters: string, said: string, after: WordState): Spelling[] {
  const signed = [...SIGNS].flatMap(([sign, word]) =>
    spelling(`${letters}${sign}`, `${said} ${word}`, after.after(word)),
  )
  return [{ letters, words: said, after }, ...signed]
}

function contractions(state: WordState): Spelling[] {
  return [
    ...CONTRACTED.flatMap(word => spelling(`${word}'s`, `${word} is`, state.after(word)?.after('is'))),
    ...spelling("i'd", 'i would', state.after('i')?.after('would')),
  ]
}

function spelling(letters: string, said: string, after: WordState | undefined): Spelling[] {
  return after ? [{ letters, words: said, after }] : []
}
