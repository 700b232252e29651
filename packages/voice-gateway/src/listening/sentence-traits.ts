import type { HeardSentence } from '../speech-to-text/transcriber.ts'
import type { Meaning } from './grammar.ts'
import { NUMBER_WORDS, saidWords } from './said-words.ts'
import { FEWEST_WORDS } from './thresholds.ts'

const OPPOSITE = new RegExp(`\\b(?:on|off|up|down|${NUMBER_WORDS.join('|')})\\b ?`, 'g')

/** Whether two sentences are the same but for a number, or for on and off. */
export function areOpposites(text: string, other: string): boolean {
  return text.replaceAll(OPPOSITE, '') === other.replaceAll(OPPOSITE, '')
}

const UNDONE = /\bun(?=lock|mute)/g

/** Whether they differ by a syllable that is soon missed: "mute" and "unmute". */
export function isUndone(text: string, other: string): boolean {
  return text.replaceAll(UNDONE, '') === other.replaceAll(UNDONE, '')
}

/** Whether they differ by their first word alone. */
export function beginsOtherwise(text: string, other: string): boolean {
  return text.slice(text.indexOf(' ')) === other.slice(other.indexOf(' '))
}

export function numbersIn(text: string): string[] {
  return saidWords(text).filter(word => NUMBER_WORDS.includes(word))
}

/** Whether their numbers differ by "-teen" and "-ty" alone: nothing is misheard more often. */
export function areTeens(text: string, other: string): boolean {
  const [numbers, others] = [numbersIn(text), numbersIn(other)]
  return numbers.join() !== others.join() && numbers.map(stemOf).join() === others.map(stemOf).join()
}

function stemOf(number: string): string {
  return number.replace('fourteen', 'forteen').replace(/(?:teen|ty)$/, '')
}

/** A text as it is said; an apostrophe is not: "light's off" is "lights off". */
export function lettersOf(text: string): string {
  return saidWords(text).join(' ').replaceAll("'", '')
}

export function isTwo(text: string): boolean {
  return text.includes(' and ')
}

/** Whether it does something with several things at once: "switches" is soon heard for a switch that is not there. */
export function doesSeveral({ key }: Pick<Meaning, 'key'>): boolean {
  return key.includes(' + ')
}

/** A word or two are soon like anything, and nobody says the same thing twice. */
export function isPlausible(text: string): boolean {
  const [first, second] = text.split(' and ')
  return text.split(' ').length >= FEWEST_WORDS && first !== second
}

/** The log-likelihood for each word, the end counted as one. */
export function perWord({ text, score }: HeardSentence): number {
  return score / (saidWords(text).length + 1)
}
