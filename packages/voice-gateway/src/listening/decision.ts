import { doesSomething, type Meaning } from '../sentences.ts'
import { saidWords } from '../speech-to-text/spoken-numbers.ts'
import type { HeardSentence, Listened } from '../speech-to-text/transcriber.ts'
import { comparePhones, phonesOf } from './phones.ts'

/**
 * `exact`: the free transcript is a sentence; `sentence`: a sentence that sounds like it; `ask`: perhaps that sentence;
 * `free`: no sentence, so the free transcript stands.
 */
export type Decision = 'exact' | 'sentence' | 'ask' | 'free'

/** What we decided was said, and why. */
export interface Heard {
  text: string
  /** The free transcript, without the grammar. */
  free_text: string
  decision: Decision
  /** How much likelier it is than the next sentence that means something else, in nats. */
  margin?: number
}

/** What the score of a sentence is made of. */
interface Evidence {
  /** How much less likely it is than the free transcript, in nats. */
  belowFree: number
  /** The phonetic distance to the free transcript, from 0 to 1. */
  distance: number
  /** The longest run of phones that only one of them has. */
  gap: number
  /** How much likelier it is than the next sentence that means something else: 0 if as likely, towards 1 if certain. */
  certainty: number
  /** 1 for a question: a wrong answer does little harm, and being asked back is tiresome. */
  tells: number
}

/** The score is the log-odds that a sentence was said; fitted on one half of the voices of bench/voice. */
const WEIGHTS: Readonly<Record<keyof Evidence | 'bias', number>> = {
  bias: 1.2,
  belowFree: -0.39,
  distance: -7.9,
  gap: -0.25,
  certainty: 4.7,
  tells: 0.5,
}
const ACT_FROM = 1.25
const ASK_FROM = -2.2
/** Sentences further apart than this cannot be confused. */
const WIDEST_MARGIN = 9

type Candidate = HeardSentence & Meaning

/** Decides between a sentence of the grammar, the free transcript, and asking. Never bends other speech into a command. */
export function decide(listened: Listened, understand: (text: string) => Meaning): Heard {
  const { text: free } = listened
  const candidates = candidatesOf(listened, understand)
  const best = candidates.find(({ kind }) => kind !== 'nothing')
  if (!best) return { text: free, free_text: free, decision: 'free' }
  // What was transcribed may be a request that no sentence covers, such as a search.
  const other = { text: free, score: listened.score, ...understand(free) }
  const isRequest = doesSomething(other) && !other.isGuess
  const margin = marginOf(best, isRequest ? [...candidates, other] : candidates)
  const score = scoreOf(evidenceFor(best, margin, listened))
  const heard = { text: best.text, free_text: free, margin }
  const isExact = saidWords(best.text).join(' ') === saidWords(free).join(' ')
  if (score >= ACT_FROM)
    return {
      ...heard,
      ...(isExact ? { text: free.replaceAll('-', ' '), decision: 'exact' } : { decision: 'sentence' }),
    }
  if (score >= ASK_FROM) return { ...heard, decision: 'ask' }
  return { ...heard, text: free, decision: understand(free).changes ? 'ask' : 'free' }
}

/** The log-odds that a sentence was said. */
function scoreOf(evidence: Evidence): number {
  const names = Object.keys(evidence) as (keyof Evidence)[]
  return names.reduce((sum, name) => sum + WEIGHTS[name] * evidence[name], WEIGHTS.bias)
}

/** The sentences that may have been said, likeliest first. */
function candidatesOf({ sentences }: Listened, understand: (text: string) => Meaning): Candidate[] {
  return sentences
    .map(sentence => ({ ...sentence, ...understand(sentence.text) }))
    .sort((a, b) => b.score - a.score)
}

function evidenceFor(best: Candidate, margin: number, free: HeardSentence): Evidence {
  const { distance, longestGap } = comparePhones(phonesOf(free.text), phonesOf(best.text))
  return {
    belowFree: Math.max(0, free.score - best.score),
    distance,
    gap: longestGap,
    certainty: Math.max(-3, 1 - Math.exp(-margin)),
    tells: Number(!best.changes),
  }
}

/** Negative if another meaning is likelier; 0 if another sounds the same, as spelling says nothing about what was said. */
function marginOf(best: Candidate, candidates: readonly Candidate[]): number {
  const sound = phonesOf(best.text).join(' ')
  const others = candidates.filter(({ key, kind }) => key !== best.key || kind !== best.kind)
  const margins = others.map(other => {
    const margin = best.score - other.score
    return phonesOf(other.text).join(' ') === sound ? Math.min(0, margin) : margin
  })
  return Math.max(-WIDEST_MARGIN, Math.min(WIDEST_MARGIN, ...margins))
}
