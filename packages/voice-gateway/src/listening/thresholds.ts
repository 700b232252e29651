/*
 * When a sentence of the grammar is taken to be what was said. The numbers were tuned on the sets `tuning`, `held-out`,
 * `second` and `third` of bench/voice/split.json: first on the tuning half alone, later also on misses in the others, so
 * only `unseen` measures how good they are.
 */

/** How far a sentence may be from the free transcript. */
export interface Nearness {
  /** How much less likely it may be, in nats. */
  mostBelowFree: number
  /** The least log-likelihood per word, counting the end as one: below it, the sentence was made up. */
  leastPerWord: number
  /** The largest phonetic distance. */
  mostDistance: number
  /** The longest run of phones that only one of them has: keeps "in ten minutes" from being dropped. */
  longestGap: number
  /** How many more phones one of them may have: catches such a drop if the rest happens to sound alike in places. */
  mostLonger: number
  /** How much may differ in one place: keeps "dining room" from being "living room". */
  worstPlace?: number
}

/** Near enough to be carried out. */
export const NEAR: Nearness = {
  mostBelowFree: 10,
  leastPerWord: -2.5,
  mostDistance: 0.35,
  longestGap: 3,
  mostLonger: 5,
}

/** For a command without a verb ("switch one on"), which is nearly a question, unless it is as likely as the free transcript. */
export const AS_LIKELY = 1.5
export const NEAR_WITHOUT_VERB: Nearness = { ...NEAR, mostDistance: 0.2 }

/** For a change that is carried out after a single hearing. */
export const HEARD_WELL: Nearness = { ...NEAR, mostDistance: 0.2 }

/** A free transcript that can be understood but sounds this much like a sentence was misspelt. */
export const MISSPELT: Nearness = { ...NEAR, mostDistance: 0.3, longestGap: 2 }

/** For a sentence nearly as likely as the free transcript: other speech never is, so sound matters less. */
export const NEARLY_AS_LIKELY = 3
export const NEAR_IF_LIKELY: Nearness = { ...NEAR, mostDistance: 0.45, longestGap: 4 }

/** For one likelier than the free transcript, which is only a greedy, word-by-word best. */
export const NEAR_IF_LIKELIER: Nearness = { ...NEAR, mostDistance: 0.65, longestGap: 6, mostLonger: 12 }

/** For two commands in one, and several devices at once: almost anything can be composed of that many words. */
export const NEAR_IF_TWO: Nearness = { ...NEAR, leastPerWord: -1.5, mostDistance: 0.2 }

/** For one that sounds just like the free transcript, which is then a misspelling: "leaving room light to seek steepers in". */
export const SAME_SOUND: Nearness = {
  mostBelowFree: 15,
  leastPerWord: -3,
  mostDistance: 0.12,
  longestGap: 1,
  mostLonger: 1,
  worstPlace: 0.6,
}

/** For a question that nothing else resembles: a wrong answer does no harm, and being asked back is tiresome. */
export const LEAST_MARGIN_TO_TELL = 2
export const NEAR_TO_TELL: Nearness = {
  mostBelowFree: 10,
  leastPerWord: -3,
  mostDistance: 0.65,
  longestGap: 5,
  mostLonger: 6,
}

/** Near enough to be asked about. */
export const NEARLY: Nearness = {
  mostBelowFree: 12,
  leastPerWord: -3.5,
  mostDistance: 0.55,
  longestGap: 5,
  mostLonger: 6,
}

/** What is this much longer or shorter than the free transcript was not said, unless it is likelier. */
export const OUT_OF_QUESTION: Nearness = {
  mostBelowFree: 25,
  leastPerWord: Number.NEGATIVE_INFINITY,
  mostDistance: 1,
  longestGap: 10,
  mostLonger: 9,
}

/** A short sentence resembles almost anything: below this many phones it must be nearer. */
const SHORT_PHONES = 20
const NEARER_FOR_EACH_PHONE = 0.008

export function limitsFor(nearness: Nearness, phones: number): Nearness {
  const missing = Math.max(0, SHORT_PHONES - phones)
  return { ...nearness, mostDistance: nearness.mostDistance - NEARER_FOR_EACH_PHONE * missing }
}

/** Shorter sentences count only if heard verbatim. */
export const FEWEST_WORDS = 3

/** How much likelier than the next other meaning a sentence must be; otherwise it is asked about. */
export const LEAST_MARGIN = 1
/** The same if they differ only in a number, or on and off: nothing else tells them apart. */
export const LEAST_MARGIN_OF_OPPOSITES = 1.5
/** The same if the word at the end that says what to do, "off", is not in the free transcript. */
export const LEAST_MARGIN_OF_UNHEARD_OPPOSITES = 3
/** The same for "fifteen" and "fifty". */
export const LEAST_MARGIN_OF_TEENS = 2.5
/** The same if neither is in the free transcript. */
export const LEAST_MARGIN_OF_UNHEARD_TEENS = 4
/** The same for a sentence that changes something and sounds less like the free transcript than this. */
export const LEAST_MARGIN_IF_UNLIKE = 2.5
export const ALIKE: Nearness = { ...NEAR, mostDistance: 0.25 }
/** The same for "mute" and "unmute", whose first syllable is easily missed. */
export const LEAST_MARGIN_OF_UNDONE = 3
/** Two things at once are said less often than one: "the lights in the living room", not "the lights and the living room". */
export const LESS_LIKELY_IF_TWO = 1.5
/** The least log-likelihood per word of free text that no sentence covers (a search) to run without asking. */
export const LEAST_PER_FREE_WORD = -0.6
/** The same for a question that no sentence covers: it is looked up in the notes only because nothing else fits. */
export const LEAST_PER_GUESSED_WORD = -0.25
/** The same for "fifteen" and "fifty" if the free transcript is the sentence. */
export const LEAST_MARGIN_OF_EXACT_TEENS = 1.5
/** An exact match stands, unless the other meaning is nearly as likely. */
export const LEAST_MARGIN_IF_EXACT = 0.5
/** A sentence that does something is asked about if one that does nothing is at most this much likelier. */
export const RIVAL_WITHIN = 3
/** The margin reported if nothing else came near. */
export const WIDEST_MARGIN = 9
/** The most phonetic distance between the end of a command ("on", "off", …) and that of the free transcript. */
export const UNHEARD_END = 0.7
export const END_PHONES = 4
