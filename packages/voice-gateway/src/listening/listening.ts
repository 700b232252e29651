import type { ConversationMessage, Grammar, Meaning } from '../sentences.ts'
import { saidWords } from '../speech-to-text/spoken-numbers.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { decide, type Heard } from './decision.ts'
import { yesOrNo } from './yes-or-no.ts'

/** "Yes", "please don't", "not that one": an answer. Longer ones may be sentences: "turn" is easily heard as "don't". */
const BARE_ANSWER_WORDS = 3

interface ListeningOptions {
  transcriber: Transcriber
  /** The sentences that can currently be understood, if any. */
  grammar?: (() => Promise<Grammar | undefined>) | undefined
}

interface HearOptions {
  signal?: AbortSignal | undefined
  /** Earlier messages of the conversation: they say what "it" refers to. */
  history?: readonly ConversationMessage[] | undefined
}

/** What was heard; without a grammar, just the text. */
export type HeardSpeech = Pick<Heard, 'text'> & Partial<Heard>

/** Transcribes with the help of the sentences that can be understood, and decides what was said. Rejects with a TranscriberError. */
export async function listenTo(
  samples: Float32Array,
  { transcriber, grammar: load }: ListeningOptions,
  { signal, history = [] }: HearOptions = {},
): Promise<HeardSpeech> {
  const grammar = transcriber.listen && (await load?.())
  if (!grammar || !transcriber.listen)
    return { text: (await transcriber.transcribe(samples, { signal })).trim() }
  const listened = await transcriber.listen(samples, { signal, graph: grammar.graph() })
  const text = listened.text.trim()
  if (isAnswer(text)) return { text, free_text: text, decision: 'free' }
  // Understanding takes milliseconds, and the same texts come up again.
  const known = new Map<string, Meaning>()
  const understand = (content: string): Meaning => {
    const meaning = known.get(content) ?? grammar.understand([...history, { role: 'user', content }])
    known.set(content, meaning)
    return meaning
  }
  const heard = decide({ ...listened, text }, understand)
  // If a no was heard, nothing is done without asking.
  const isDoubtful =
    yesOrNo(text) === false && heard.decision === 'sentence' && understand(heard.text).changes
  return isDoubtful ? { ...heard, decision: 'ask' } : heard
}

/** Nothing, or a bare yes or no. */
function isAnswer(text: string): boolean {
  const words = saidWords(text)
  return words.length === 0 || (words.length <= BARE_ANSWER_WORDS && yesOrNo(text) !== undefined)
}
