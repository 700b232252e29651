import { SAMPLE_RATE } from '../audio/samples.ts'
import type { Beam } from './bound/sentence-search.ts'
import type { Listened } from './transcriber.ts'

/** One way to listen to a piece of speech. */
export interface Hearing {
  /** In samples. The model is sensitive to where in a frame speech begins: what it misses once, it often gets when shifted. */
  silenceBefore: number
  beam: Beam
  /** Compared with the first hearing. */
  timesAsLong: number
}

const SOON = Math.round(0.1 * SAMPLE_RATE)
const LATER = Math.round(0.3 * SAMPLE_RATE)

/**
 * The first is enough for a clear command. Each of the others follows more sentences: in noise the right one often begins as
 * an unlikely one, and of 25 such commands the three searches found 3, 19 and 22.
 */
export const HEARINGS: readonly [Hearing, ...Hearing[]] = [
  {
    silenceBefore: SOON,
    beam: { first: { tokens: 4, width: 8, below: 14 }, later: { width: 8, below: 9 } },
    timesAsLong: 1,
  },
  {
    silenceBefore: LATER,
    beam: { first: { tokens: 6, width: 32, below: 18 }, later: { width: 16, below: 12 } },
    timesAsLong: 1.8,
  },
  {
    silenceBefore: SOON,
    beam: { first: { tokens: 5, width: 64, below: 20 }, later: { width: 16, below: 12 } },
    timesAsLong: 2.5,
  },
]

/** The speaker is waiting: the last hearing must finish this soon after the end of speech. */
export const PATIENCE_MS = 750

/** Whether it can finish in time; an abandoned one would only keep the speaker waiting. */
export function hasTimeFor(
  { timesAsLong }: Hearing,
  { firstMs, elapsedMs }: { firstMs: number; elapsedMs: number },
): boolean {
  return elapsedMs + timesAsLong * firstMs <= PATIENCE_MS
}

/** In nats. If the best sentence falls further behind the free transcript, a better one may have been missed. */
const SURE_BELOW_FREE = 2

/** Whether no sentence is near the free transcript. */
export function isUnsure(heard: Listened): boolean {
  return belowFree(heard) > SURE_BELOW_FREE
}

/** Of several hearings of the same speech, the one with a sentence nearest to its free transcript. */
export function surest(first: Listened, others: readonly Listened[]): Listened {
  return others.reduce((best, other) => (belowFree(other) < belowFree(best) ? other : best), first)
}

function belowFree({ score, sentences: [best] }: Listened): number {
  return best ? score - best.score : Number.POSITIVE_INFINITY
}
