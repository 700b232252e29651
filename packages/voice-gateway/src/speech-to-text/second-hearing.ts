import type { Listened } from './transcriber.ts'

/**
 * In nats: if the best sentence falls further behind the free transcript, the speech gets a second pass. Nine in ten clearly
 * spoken commands stay within it; most speech that is not a command does not.
 */
const SURE_BELOW_FREE = 4

/** The speaker is waiting: a second pass must finish this soon after the end of speech. */
export const PATIENCE_MS = 880
/** The second pass takes at least this many times as long as the first, because it follows more sentences. */
const TIMES_AS_LONG = 1.4

/** The model is sensitive to where in a frame speech begins: what it misses once, it often gets when shifted. */
export function isUnsure(heard: Listened): boolean {
  return belowFree(heard) > SURE_BELOW_FREE
}

/** Whether a second pass can finish in time; an abandoned one would only keep the speaker waiting. */
export function hasTimeForAnother({ tookMs, elapsedMs }: { tookMs: number; elapsedMs: number }): boolean {
  return elapsedMs + TIMES_AS_LONG * tookMs <= PATIENCE_MS
}

/** Of two passes over the same speech, the one with a sentence nearer to the free transcript. */
export function surer(first: Listened, second: Listened): Listened {
  return belowFree(second) < belowFree(first) ? second : first
}

function belowFree({ score, sentences: [best] }: Listened): number {
  return best ? score - best.score : Number.POSITIVE_INFINITY
}
