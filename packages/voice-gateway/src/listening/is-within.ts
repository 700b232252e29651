import type { HeardSentence } from '../speech-to-text/transcriber.ts'
import { comparePhones } from './phone-distance.ts'
import { perWord } from './sentence-traits.ts'
import { END_PHONES, limitsFor, type Nearness, UNHEARD_END } from './thresholds.ts'

interface Sounding {
  score: number
  phones: readonly string[]
}

/** Whether a sentence is near enough to the free transcript, in likelihood and in sound. */
export function isWithin(nearness: Nearness, free: Sounding, sentence: HeardSentence & Sounding): boolean {
  const limits = limitsFor(nearness, sentence.phones.length)
  const { distance, longestGap, worstPlace } = comparePhones(free.phones, sentence.phones)
  return (
    free.score - sentence.score <= limits.mostBelowFree &&
    perWord(sentence) >= limits.leastPerWord &&
    distance <= limits.mostDistance &&
    longestGap <= limits.longestGap &&
    worstPlace <= (limits.worstPlace ?? Number.POSITIVE_INFINITY) &&
    Math.abs(free.phones.length - sentence.phones.length) <= limits.mostLonger
  )
}

/** Whether both end with similar phones; if not, the last word was a different one. */
export function endsAlike(free: readonly string[], sentence: readonly string[]): boolean {
  return comparePhones(free.slice(-END_PHONES), sentence.slice(-END_PHONES)).distance <= UNHEARD_END
}
