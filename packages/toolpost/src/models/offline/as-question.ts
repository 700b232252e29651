import type { Meaning } from './meaning.ts'
import type { Request } from './request.ts'
import { wordSet } from './words.ts'

/*
 * Questions recognizable only by the question mark: "kettle on?", "the window is open?"
 */

const BE = new Set(['is', 'are'])
/** Starting with one of these, it is a question anyway, or not one about a state. */
const ASKING = wordSet(
  `is are was were do does did has have can could will would should may what which who whose where when why how
  turn switch put set make open close`,
)

/** The meaning of a request that asks for a state, and so never changes anything; `undefined` otherwise. */
export function asQuestion(
  request: Request,
  understand: (question: Request) => Meaning | undefined,
): Meaning | undefined {
  const [first] = request.words
  if (!first || !isAsked(request.text) || ASKING.has(first.key)) return undefined
  const at = request.words.findIndex(({ key }) => BE.has(key))
  const rest = request.words.filter((_, place) => place !== at)
  const meaning = understand(request.with([{ ...first, key: 'is', end: first.start }, ...rest]))
  return meaning?.kind === 'tell' ? meaning : undefined
}

/** "Lights off, would you?" is a command. */
function isAsked(text: string): boolean {
  return /\?[\s"')]*$/.test(text) && !/\b(?:please|pls|can|could|would|will|mind)\b/i.test(text)
}
