import type { Meaning } from '../messages.ts'
import { saidWords } from '../speech-to-text/spoken-numbers.ts'
import type { HeardSentence, Listened } from '../speech-to-text/transcriber.ts'
import { comparePhones, type PhoneDifference, phonesOf } from './phones.ts'
import { isBareAnswer, yesOrNo } from './yes-or-no.ts'

/** The free transcript is a sentence, sounds like one, perhaps like one, or stands for itself. */
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
  /** How much likelier its meaning is than any other, in nats. */
  margin: number
}

/** Fitted by scripts/fit-voice.mjs on one half of the voices. */
const WEIGHTS: Readonly<Record<keyof Evidence | 'heard' | 'certain', number>> = {
  heard: 11.56,
  belowFree: -0.76,
  distance: -5.23,
  gap: -1.2,
  certain: 0.15,
  margin: 0.87,
}
const ACT_FROM = 2.3
const ASK_FROM = -1.1
/** How many nats a phone counts that differs from the free transcript, when sentences are compared with each other. */
const PHONE_NATS = 0.6
/** Meanings further apart than this cannot be confused, in nats. */
const WIDEST_MARGIN = 9

interface Candidate extends HeardSentence, Meaning {
  sound: string
  difference: PhoneDifference
  /** How likely it is, judged by the sound and by the free transcript. */
  rank: number
}

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
  const said = phonesOf(listened.text)
  const candidate = (sentence: HeardSentence): Candidate => {
    const meaning = understand(sentence.text)
    const phones = phonesOf(sentence.text)
    const difference = comparePhones(said, phones)
    // Any words fit where free text is expected, so that they are no evidence.
    const free = (phones.length * meaning.free) / saidWords(sentence.text).length
    const rank = sentence.score - PHONE_NATS * (difference.cost + free)
    return { ...sentence, ...meaning, sound: phones.join(' '), difference, rank }
  }
  const free = candidate(listened)
  const sentences = listened.sentences.map(candidate)
  const all = doesSomething(free) && !free.isGuess ? [free, ...sentences] : sentences
  const [best] = all.filter(({ kind }) => kind !== 'nothing').sort((a, b) => b.rank - a.rank)
  if (!best) return undefined
  const { distance, longestGap: gap } = best.difference
  const margin = marginOf(best, all)
  const evidence: Evidence = { belowFree: Math.max(0, free.score - best.score), distance, gap, margin }
  return { best, margin, evidence }
}

/** How safely a sentence can be carried out: as the log of the odds that it was heard, and not another one. */
export function scoreOf({ belowFree, distance, gap, margin }: Evidence, weights = WEIGHTS): number {
  const heard =
    weights.heard + weights.belowFree * belowFree + weights.distance * distance + weights.gap * gap
  return -logSum([-heard, -(weights.certain + weights.margin * margin)])
}

/** Decoys, greetings and questions back to the speaker call no tool. */
function doesSomething({ kind }: Meaning): boolean {
  return kind === 'act' || kind === 'tell'
}

/** 0 if another meaning sounds the same: spelling says nothing about what was said. */
function marginOf(best: Candidate, candidates: readonly Candidate[]): number {
  const others = candidates.filter(({ kind, key }) => kind !== best.kind || key !== best.key)
  const margins = others.map(({ sound, rank }) => (sound === best.sound ? 0 : best.rank - rank))
  return Math.min(WIDEST_MARGIN, ...margins)
}

/** Of likelihoods given as logarithms. */
function logSum(logs: readonly number[]): number {
  const highest = Math.max(...logs)
  return highest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - highest), 0))
}
