import type { Meaning } from '../messages.ts'
import { saidWords } from '../speech-to-text/spoken-numbers.ts'
import type { HeardSentence, Listened } from '../speech-to-text/transcriber.ts'
import { comparePhones, phonesOf } from './phones.ts'
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

/** What the score of a sentence is made of. A phone that was heard differently counts as a nat. */
export interface Evidence {
  /** How much less likely it is than a free transcript, in nats. */
  below: number
  /** The longest run of phones that only one of them has. */
  gap: number
  /** How much likelier its meaning is than any other, in nats. */
  margin: number
}

/** Fitted by scripts/fit-voice.mjs on one half of the voices. */
const WEIGHTS = { heard: 14.5, below: -0.63, gap: -1.5 }
const ACT_FROM = 2
const ASK_FROM = -1.1
/** A free transcript that is less likely than this was not understood itself, and is nothing to compare with. */
const LEAST_FREE_NATS = -8
/** How much less a free transcript counts that is understood, but is no sentence that was listened for. */
const UNLISTED_NATS = 4
/** Meanings further apart than this cannot be confused, in nats. */
const WIDEST_MARGIN = 9

interface Candidate extends HeardSentence, Meaning {
  phones: readonly string[]
  gap: number
  /** How likely it is, judged by the speech model and by how unlike the free transcript it sounds. */
  likelihood: number
}

/** Decides between a sentence of the grammar, the free transcript, and asking. Never bends other speech into a command. */
export function decide(listened: Listened, understand: (text: string) => Meaning): Heard {
  const { text: free } = listened
  const words = saidWords(free)
  const isNothing = words.length === 0 || isBareAnswer(free, words.length)
  const found = isNothing ? undefined : weigh(listened, understand)
  if (!found) return { text: free, free_text: free, decision: 'free' }
  const { best, evidence } = found
  const { margin } = evidence
  const score = scoreOf(evidence)
  const isExact = saidWords(best.text).join(' ') === words.join(' ')
  const heard = { text: best.text, free_text: free, margin, meaning: best.meaning }
  // If a no was heard, nothing is done without asking.
  const isDoubtful = yesOrNo(free) === false && best.changes && !isExact
  if (score >= ACT_FROM && !isDoubtful)
    return { ...heard, decision: isExact ? 'exact' : 'sentence', text: isExact ? free : best.text }
  if (score >= ASK_FROM && callsTool(best)) return { ...heard, decision: 'ask' }
  const meant = understand(free)
  const decision = callsTool(meant) && !meant.isGuess ? 'ask' : 'free'
  return { text: free, free_text: free, margin, decision }
}

/** The likeliest sentence, and what speaks for it. The free transcript is one too, if it is understood for certain. */
export function weigh(listened: Listened, understand: (text: string) => Meaning) {
  const said = phonesOf(listened.text)
  const candidate = (sentence: HeardSentence): Candidate => {
    const meaning = understand(sentence.text)
    const phones = phonesOf(sentence.text)
    const { cost, longestGap: gap } = comparePhones(said, phones)
    return { ...sentence, ...meaning, phones, gap, likelihood: sentence.score - cost }
  }
  const sentences = listened.sentences.map(candidate)
  const free = candidate(listened)
  if (!sentences.some(sentence => soundAlike(sentence, free))) {
    // Any words fit where free text is expected, so that they are no evidence.
    const anyPhones = (said.length * free.free) / Math.max(1, saidWords(free.text).length)
    free.likelihood -= UNLISTED_NATS + anyPhones
  }
  const all = free.kind === 'nothing' || free.isGuess ? sentences : [free, ...sentences]
  const [best] = all.filter(({ kind }) => kind !== 'nothing').sort((a, b) => b.likelihood - a.likelihood)
  if (!best) return undefined
  const below = Math.max(listened.score, LEAST_FREE_NATS) - best.likelihood
  const evidence: Evidence = { below, gap: best.gap, margin: marginOf(best, all) }
  return { best, evidence }
}

/** How safely a sentence can be carried out: as the log of the odds that it was heard, and not another one. */
export function scoreOf({ below, gap, margin }: Evidence, weights = WEIGHTS): number {
  return -logSum([-(weights.heard + weights.below * below + weights.gap * gap), -margin])
}

/** Decoys, greetings and questions back to the speaker call no tool. */
export function callsTool({ kind }: Meaning): boolean {
  return kind === 'act' || kind === 'tell'
}

/** 0 if another meaning sounds the same: spelling says nothing about what was said. */
function marginOf(best: Candidate, candidates: readonly Candidate[]): number {
  const others = candidates.filter(({ kind, key }) => kind !== best.kind || key !== best.key)
  const margins = others.map(other => (soundAlike(other, best) ? 0 : best.likelihood - other.likelihood))
  return Math.min(WIDEST_MARGIN, ...margins)
}

function soundAlike(one: Candidate, other: Candidate): boolean {
  return one.phones.join() === other.phones.join()
}

/** Of likelihoods given as logarithms. */
function logSum(logs: readonly number[]): number {
  const highest = Math.max(...logs)
  return highest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - highest), 0))
}
