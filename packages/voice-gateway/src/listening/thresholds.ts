/*
 * When a sentence that was heard along the grammar is taken for what was said. The numbers come from the sets `tuning`,
 * `held-out`, `second` and `third` of bench/voice/split.json: first from the tuning half alone, later also from misses of the
 * others, so that only `unseen` says what they are worth.
 */

/** How far a sentence may be from what was heard freely. */
export interface Nearness {
  /** How much less likely it may be, in nats. */
  mostBelowFree: number
  /** The least log-likelihood for each word, the end counted as one: below it, it was invented. */
  leastPerWord: number
  /** The largest distance of their sounds. */
  mostDistance: number
  /** The longest run of phones that only one of them has: keeps "in ten minutes" from being dropped. */
  longestGap: number
  /** How many phones more one of them may have: the same, if the rest happens to sound alike here and there. */
  mostLonger: number
}

/** It is done. */
export const NEAR: Nearness = {
  mostBelowFree: 10,
  leastPerWord: -2.5,
  mostDistance: 0.35,
  longestGap: 3,
  mostLonger: 5,
}

/** For a command without a verb ("switch one on"), which is nearly a question, unless it is as likely as what was heard freely. */
export const AS_LIKELY = 1.5
export const NEAR_WITHOUT_VERB: Nearness = { ...NEAR, mostDistance: 0.2 }

/** What can be understood as it was written, but sounds like this, was misspelt. */
export const MISSPELT: Nearness = { ...NEAR, mostDistance: 0.3, longestGap: 2 }

/** For a sentence that is nearly as likely as what was heard freely: other speech never is, so its sound says less. */
export const NEARLY_AS_LIKELY = 3
export const NEAR_IF_LIKELY: Nearness = { ...NEAR, mostDistance: 0.45, longestGap: 4 }

/** For one that is likelier than what was heard freely, which is only the likeliest word after word. */
export const NEAR_IF_LIKELIER: Nearness = { ...NEAR, mostDistance: 0.65, longestGap: 6, mostLonger: 8 }

/** For two commands in one, and for several devices at once: nearly anything can be put together of so many words. */
export const NEAR_IF_TWO: Nearness = { ...NEAR, leastPerWord: -1.5, mostDistance: 0.2 }

/** It is asked about. */
export const NEARLY: Nearness = {
  mostBelowFree: 12,
  leastPerWord: -3.5,
  mostDistance: 0.55,
  longestGap: 5,
  mostLonger: 6,
}

/** A short sentence is soon like anything: below so many phones it must be nearer. */
const SHORT_PHONES = 20
const NEARER_FOR_EACH_PHONE = 0.008

export function limitsFor(nearness: Nearness, phones: number): Nearness {
  const missing = Math.max(0, SHORT_PHONES - phones)
  return { ...nearness, mostDistance: nearness.mostDistance - NEARER_FOR_EACH_PHONE * missing }
}

/** Shorter sentences count only if they were heard just so. */
export const FEWEST_WORDS = 3

/** How much likelier than the next other meaning a sentence must be; else it is asked about. */
export const LEAST_MARGIN = 1
/** The same if that one differs by a number, or by on and off, alone: nothing else tells them apart. */
export const LEAST_MARGIN_OF_OPPOSITES = 1.5
/** The same for "fifteen" and "fifty". */
export const LEAST_MARGIN_OF_TEENS = 2.5
/** The same for what changes something and sounds less like what was heard freely than this. */
export const LEAST_MARGIN_IF_UNLIKE = 2.5
export const ALIKE: Nearness = { ...NEAR, mostDistance: 0.25 }
/** The same for "mute" and "unmute", of which the first syllable is soon missed. */
export const LEAST_MARGIN_OF_UNDONE = 3
/** Two things at once are said less often than one: "the lights in the living room", not "the lights and the living room". */
export const LESS_LIKELY_IF_TWO = 1.5
/** The least log-likelihood for each word of what no sentence has (a search), to be done without asking. */
export const LEAST_PER_FREE_WORD = -0.6
/** The same for any question that no sentence has: it is looked up in the notes only because nothing else fits. */
export const LEAST_PER_GUESSED_WORD = -0.25
/** What was understood exactly stands, unless the other meaning is nearly as likely. */
export const LEAST_MARGIN_IF_EXACT = 0.5
/** What does something is asked about if a sentence that does nothing is no more than this likelier. */
export const RIVAL_WITHIN = 3
/** What is reported as the margin if nothing else came near. */
export const WIDEST_MARGIN = 9
