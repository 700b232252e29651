import { readData } from '../data.ts'

/** A sentence that begins with a negation is not a request, whatever follows. */
type Answers = Record<'no' | 'yes' | 'polite' | 'leading' | 'negated', readonly string[]>

const BARE_ANSWER_WORDS = 3
const answers = readData<Answers>('yes-or-no.json')
const NO = phrases(answers.no)
const YES = phrases(answers.yes)
const POLITE = phrases(answers.polite)
const NEGATED = new RegExp(`^(?:(?:${answers.leading.join('|')}) )*(?:${answers.negated.join('|')}) `)

/** `undefined` if it is neither. A sentence with both is a no; one that says more than yes or no is neither. */
export function yesOrNo(said: string): boolean | undefined {
  const words = said
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[^\p{L}\p{N}']+/gu, ' ')
    .trim()
  if (NEGATED.test(words)) return false
  const withoutNo = words.replaceAll(NO, '')
  const withoutBoth = withoutNo.replaceAll(YES, '')
  if (withoutBoth === words || withoutBoth.replaceAll(POLITE, '').trim() !== '') return undefined
  return withoutNo === words
}

/** "Yes", "please don't", "not that one": an answer. Longer ones may be sentences: "turn" is easily heard as "don't". */
export function isBareAnswer(said: string, words: number): boolean {
  return words <= BARE_ANSWER_WORDS && yesOrNo(said) !== undefined
}

/** Longest first: "do not" is not "do". */
function phrases(list: readonly string[]): RegExp {
  const longestFirst = [...list].sort((a, b) => b.length - a.length)
  return new RegExp(`\\b(?:${longestFirst.join('|')})\\b`, 'g')
}
