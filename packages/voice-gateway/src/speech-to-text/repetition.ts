/** The longest sequence that is looked for; loops of a speech model are short. */
const LONGEST_LOOP = 10
/** A single word may be said a few times in earnest. */
const MOST_SINGLES = 6
const MOST_SEQUENCES = 4

/**
 * Tokens whose end repeats itself, with the repetition said once: a speech model that has lost
 * the thread does not find out by itself. Other tokens as they are.
 */
export function withoutLoop(tokens: readonly number[]): readonly number[] {
  for (let length = 1; length <= LONGEST_LOOP; length++) {
    const times = length === 1 ? MOST_SINGLES : MOST_SEQUENCES
    if (endsInLoop(tokens, length, times)) return tokens.slice(0, tokens.length - length * (times - 1))
  }
  return tokens
}

function endsInLoop(tokens: readonly number[], length: number, times: number): boolean {
  const end = tokens.slice(-length * times)
  return end.length === length * times && end.every((token, index) => token === end[index % length])
}
