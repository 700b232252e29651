import type { HeardSentence } from '../speech-to-text/transcriber.ts'
import { comparePhones } from './phone-distance.ts'
import { perWord } from './sentence-traits.ts'
import { limitsFor, type Nearness } from './thresholds.ts'

interface Sounding {
  score: number
  phones: readonly string[]
}

/** Whether a sentence is as near to what was heard freely as it has to be: in likelihood and in sound. */
export function isWithin(nearness: Nearness, free: Sounding, sentence: HeardSentence & Sounding): boolean {
  const limits = limitsFor(nearness, sentence.phones.length)
  const { distance, longestGap } = comparePhones(free.phones, sentence.phones)
  return (
    free.score - sentence.score <= limits.mostBelowFree &&
    perWord(sentence) >= limits.leastPerWord &&
    distance <= limits.mostDistance &&
    longestGap <= limits.longestGap &&
    Math.abs(free.phones.length - sentence.phones.length) <= limits.mostLonger
  )
}
