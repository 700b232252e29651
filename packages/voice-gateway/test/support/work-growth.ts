/** Four times the text is four times the work, or sixteen times where it grows with the square. */
const QUADRUPLING_LENGTHS = [160, 640, 2_560, 10_240]
const MOST_TIMES_AS_LONG = 11
/** Less than this is too little to be compared. */
const MEASURABLE_MS = 5
const ROUNDS = 12

/**
 * The first length at which the work on a text of a kind grows much faster than the text; undefined: it does not.
 * The shortest of several times counts, so that a busy machine changes nothing.
 */
export function outgrownAt(work: (text: string) => void, textOf: (length: number) => string) {
  const shortest = new Map<number, number>()
  const measure = (length: number) => {
    const tookMs = timeOf(() => work(textOf(length)))
    shortest.set(length, Math.min(tookMs, shortest.get(length) ?? Number.POSITIVE_INFINITY))
    return shortest.get(length) ?? 0
  }
  return QUADRUPLING_LENGTHS.find((length, index) => {
    const shorter = QUADRUPLING_LENGTHS[index - 1] ?? length
    const isOutgrown = () => measure(length) > Math.max(MEASURABLE_MS, measure(shorter) * MOST_TIMES_AS_LONG)
    return Array.from({ length: ROUNDS }).every(isOutgrown)
  })
}

/** The time of the processor. Only the sum is exact: how it is divided into user and system is an estimate. */
function timeOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
