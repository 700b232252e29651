import type { HeardSentence } from '../speech-to-text/transcriber.ts'
import type { Meaning } from './grammar.ts'
import { NUMBER_WORDS, saidWords } from './said-words.ts'
import { FEWEST_WORDS } from './thresholds.ts'

const OPPOSITE = new RegExp(`\\b(?:on|off|up|down|${NUMBER_WORDS.join('|')})\\b ?`, 'g')

/** Whether two sentences are the same except for a number, or on and off. */
export function areOpposites(text: string, other: string): boolean {
  return text.replaceAll(OPPOSITE, '') === other.replaceAll(OPPOSITE, '')
}

const UNDONE = /\bun(?=lock|mute)/g

/** Whether they differ by an easily missed syllable: "mute" and "unmute". */
export function isUndone(text: string, other: string): boolean {
  return text.replaceAll(UNDONE, '') === other.replaceAll(UNDONE, '')
}

/** The question, if "are the" was misheard as "all the"; `undefined` for any other start. */
export function asQuestion(text: string): string | undefined {
  const [all, the, ...rest] = saidWords(text)
  return all === 'all' && the === 'the' ? ['are the', ...rest].join(' ') : undefined
}

/** Whether they differ only in their first word. */
export function beginsOtherwise(text: string, other: string): boolean {
  return text.slice(text.indexOf(' ')) === other.slice(other.indexOf(' '))
}

/** Nobody begins a command with "then" or "but": it was another word, as in "unlock" or "put". */
export function beginsOddly(text: string): boolean {
  return /^(?:then|but|or)\b/i.test(text)
}

export function numbersIn(text: string): string[] {
  return saidWords(text).filter(word => NUMBER_WORDS.includes(word))
}

/** Whether every number in a sentence was heard. */
export function hasNumbersOf(heard: string, sentence: string): boolean {
  const numbers = numbersIn(heard)
  return numbersIn(sentence).every(number => numbers.includes(number))
}

const FILLERS = new Set('the a an of from please now uh um oh so well just okay and then'.split(' '))

/** Whether the transcript has every word of a sentence and at least one more: "the office light" is not the office. */
export function saysMore(heard: string, sentence: string): boolean {
  const [first, ...rest] = saidWords(sentence)
  let next = first
  const others = saidWords(heard).filter(word => {
    const isNext = word === next
    if (isNext) next = rest.shift()
    return !isNext && !FILLERS.has(word)
  })
  return next === undefined && others.length > 0
}

/** Whether the last word is the action. */
export function endsWithAction(text: string): boolean {
  return / (?:on|off|up|down)$/.test(text)
}

/** Decoys, greetings and questions back to the speaker call no tool. */
export function doesSomething({ kind }: Pick<Meaning, 'kind'>): boolean {
  return kind === 'act' || kind === 'tell'
}

const QUESTION = /^(?:what|which|who|when|where|how|is|are|was|did|do|does|has|have|any)\b/

/** Whether it is asked with a question word: "the level of the front door" may be anything. */
export function isQuestion({ kind, isGuess, text }: Meaning & { text: string }): boolean {
  return kind === 'tell' && !isGuess && QUESTION.test(text)
}

/** Whether their numbers differ only in "-teen" and "-ty": nothing is misheard more often. */
export function areTeens(text: string, other: string): boolean {
  const [numbers, others] = [numbersIn(text), numbersIn(other)]
  return numbers.join() !== others.join() && numbers.map(stemOf).join() === others.map(stemOf).join()
}

function stemOf(number: string): string {
  return number.replace('fourteen', 'forteen').replace(/(?:teen|ty)$/, '')
}

/** A text as spoken, without apostrophes: "light's off" is "lights off". */
export function lettersOf(text: string): string {
  return saidWords(text).join(' ').replaceAll("'", '')
}

export function isTwo(text: string): boolean {
  return text.includes(' and ')
}

/** Whether it acts on several things at once: a switch that does not exist is easily heard as "switches". */
export function doesSeveral({ key }: Pick<Meaning, 'key'>): boolean {
  return key.includes(' + ')
}

/** One or two words resemble almost anything, and nobody says the same thing twice. */
export function isPlausible(text: string): boolean {
  const [first, second] = text.split(' and ')
  return text.split(' ').length >= FEWEST_WORDS && first !== second
}

/** The log-likelihood per word, counting the end as one. */
export function perWord({ text, score }: HeardSentence): number {
  return score / (saidWords(text).length + 1)
}
