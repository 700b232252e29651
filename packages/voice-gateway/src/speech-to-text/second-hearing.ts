import type { Listened } from './transcriber.ts'

/**
 * In nats: a sentence that falls further behind the free transcript is heard again. Nine in ten clearly spoken commands
 * stay within it; most speech that is no command does not.
 */
const SURE_BELOW_FREE = 4

/** The model is sensitive to where in its frames the speech begins: what it misses once, it often gets when moved. */
export function isUnsure(heard: Listened): boolean {
  return belowFree(heard) > SURE_BELOW_FREE
}

/** Of two hearings of the same speech, the one in which a sentence is nearer to what was heard freely. */
export function surer(first: Listened, second: Listened): Listened {
  return belowFree(second) < belowFree(first) ? second : first
}

function belowFree({ score, sentences: [best] }: Listened): number {
  return best ? score - best.score : Number.POSITIVE_INFINITY
}
