import type { Listened } from './transcriber.ts'

/**
 * How much less likely than what was heard freely a sentence may be to be sure of it, in nats. Nine of ten commands that
 * are spoken clearly are within, so that one in ten is heard twice, and most of what is no command.
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
