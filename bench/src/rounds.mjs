// Interleaved rounds: each contender gets one slice per round, in an order shuffled for every round. So a slow phase of
// the machine affects all of them, and nobody always inherits the caches and the heap of the same predecessor.

/** Runs rounds of `measure(contender)` and returns the measurements by contender, in the order of the rounds. */
export async function interleave({ contenders, warmUpRounds, rounds, measure }) {
  const taken = new Map(contenders.map(contender => [contender, []]))
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    for (const contender of shuffled(contenders)) {
      const measured = await measure(contender)
      if (round >= warmUpRounds) taken.get(contender).push(measured)
    }
  }
  return taken
}

function shuffled(values) {
  const result = [...values]
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    const value = result[last]
    result[last] = result[other]
    result[other] = value
  }
  return result
}

/** The value below which a `share` of the numbers lies. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = Math.floor(place)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below)
}

export const median = numbers => quantile(numbers, 0.5)

/** How `numbers` compare with `base`, round by round: the median, and the 10th and 90th percentiles. */
export function ratio(numbers, base) {
  const ratios = numbers.map((number, round) => number / base[round])
  return { median: median(ratios), low: quantile(ratios, 0.1), high: quantile(ratios, 0.9) }
}
