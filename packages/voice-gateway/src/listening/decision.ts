import type { Meaning } from '../messages.ts'
import { saidWords } from '../speech-to-text/spoken-numbers.ts'
import type { HeardSentence, Listened } from '../speech-to-text/transcriber.ts'
import { comparePhones, phonesOf } from './phones.ts'
import { isBareAnswer, yesOrNo } from './yes-or-no.ts'

/**
 * `exact`: the free transcript is a sentence; `sentence`: a sentence that sounds like it; `ask`: perhaps that sentence;
 * `free`: no sentence, so the free transcript stands.
 */
export type Decision = 'exact' | 'sentence' | 'ask' | 'free'

/** What we decided was said, and why; without sentences to compare with, just the text. */
export interface Heard {
  text: string
  /** The free transcript, without the grammar. */
  free_text?: string
  decision?: Decision
  /** How much likelier it is than the next sentence that means something else, in nats. */
  margin?: number
  /** The match of the sentence, to be carried out as it is. */
  meaning?: object | undefined
}

/** What the score of a sentence is made of. */
export interface Evidence {
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

/** The score says how safely a sentence can be carried out. Fitted by scripts/fit-voice.mjs on one half of the voices. */
const WEIGHTS: Readonly<Record<keyof Evidence | 'bias', number>> = {
  bias: 0.88,
  belowFree: -0.31,
  distance: -5.83,
  gap: -0.44,
  certainty: 4.7,
  tells: 0.42,
}
const ACT_FROM = 2.56
const ASK_FROM = -1.1
const LEAST_CERTAINTY = -3
/** Sentences further apart than this cannot be confused, in nats. */
const WIDEST_MARGIN = 9

type Candidate = HeardSentence & Meaning

/** Decides between a sentence of the grammar, the free transcript, and asking. Never bends other speech into a command. */
export function decide(listened: Listened, understand: (text: string) => Meaning): Heard {
  const { text: free } = listened
  const words = saidWords(free)
  const isNothing = words.length === 0 || isBareAnswer(free, words.length)
  const found = isNothing ? undefined : weigh(listened, understand)
  if (!found) return { text: free, free_text: free, decision: 'free' }
  const { best, margin, evidence } = found
  const score = scoreOf(evidence)
  const isExact = saidWords(best.text).join(' ') === words.join(' ')
  const heard = { text: best.text, free_text: free, margin, meaning: best.meaning }
  if (score < ASK_FROM)
    return { text: free, free_text: free, margin, decision: understand(free).changes ? 'ask' : 'free' }
  // If a no was heard, nothing is done without asking.
  if (score < ACT_FROM || (yesOrNo(free) === false && best.changes && !isExact))
    return { ...heard, decision: 'ask' }
  return { ...heard, decision: isExact ? 'exact' : 'sentence', text: isExact ? free : best.text }
}

/** The likeliest sentence, and what speaks for it. The free transcript is one too, if it is understood for certain. */
export function weigh(listened: Listened, understand: (text: string) => Meaning) {
  const meant = (sentence: HeardSentence): Candidate => ({ ...sentence, ...understand(sentence.text) })
  const free = meant(listened)
  const sentences = listened.sentences.map(meant)
  const all = doesSomething(free) && !free.isGuess ? [free, ...sentences] : sentences
  const best = all.sort((a, b) => b.score - a.score).find(({ kind }) => kind !== 'nothing')
  if (!best) return undefined
  const margin = marginOf(best, all)
  const { distance, longestGap } = comparePhones(phonesOf(free.text), phonesOf(best.text))
  const evidence: Evidence = {
    belowFree: Math.max(0, free.score - best.score),
    distance,
    gap: longestGap,
    certainty: Math.max(LEAST_CERTAINTY, 1 - Math.exp(-margin)),
    tells: Number(!best.changes),
  }
  return { best, margin, evidence }
}

/** How safely a sentence can be carried out. */
export function scoreOf(evidence: Evidence, weights = WEIGHTS): number {
  const names = Object.keys(evidence) as (keyof Evidence)[]
  return names.reduce((sum, name) => sum + weights[name] * evidence[name], weights.bias)
}

/** Decoys, greetings and questions back to the speaker call no tool. */
function doesSomething({ kind }: Meaning): boolean {
  return kind === 'act' || kind === 'tell'
}

/** Negative if another meaning is likelier; 0 if another sounds the same, as spelling says nothing about what was said. */
function marginOf(best: Candidate, candidates: readonly Candidate[]): number {
  const sound = phonesOf(best.text).join(' ')
  const others = candidates.filter(({ key, kind }) => key !== best.key || kind !== best.kind)
  const margins = others.map(other => {
    const margin = best.score - other.score
    return phonesOf(other.text).join(' ') === sound ? Math.min(0, margin) : margin
  })
  return Math.min(WIDEST_MARGIN, ...margins)
}
