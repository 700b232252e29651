/** The longest sequence to look for; a speech model's loops are short. */
const LONGEST_LOOP = 10
/** People do repeat a single word a few times. */
const MOST_SINGLES = 6
const MOST_SEQUENCES = 4

/**
 * Collapses a repetition at the end to one occurrence: a speech model stuck in a loop does not
 * notice by itself. Other tokens are returned unchanged.
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
