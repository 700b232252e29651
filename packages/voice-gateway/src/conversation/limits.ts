/*
 * What holds for a conversation unless somebody says otherwise, in one place.
 */

/** How many utterances may wait, and how much audio among them; more is refused. */
export const QUEUE_LIMIT = 16
export const QUEUE_BYTES = 64 * 1024 * 1024
/** An answer that takes longer is announced by a filler. */
export const FILLER_AFTER_MS = 1_500
export const FILLER = 'One moment.'
/** How long one answer may take, calls included. */
export const ANSWER_TIME_LIMIT_MS = 60_000
/** For so long after a question a yes or a no is its answer; who says nothing has said no. */
export const ANSWER_WINDOW_MS = 8_000
/** How many conversations are remembered, and how many messages of each: small models read slowly. */
export const KEPT_CONVERSATIONS = 50
export const KEPT_MESSAGES = 40
/** The longest text that is taken as one utterance. */
export const MAX_TEXT_LENGTH = 10_000
/** How long an answer under way may take when the gateway is closed. */
export const DRAIN_MS = 10_000
export const CLOSED = 'the voice gateway was closed'
/** The answer to what was misheard, and therefore not done. */
export const NOT_MEANT = 'Nothing was done.'
/** The answer to what may have been a name that cannot be heard. */
export function cannotBeSaid(name: string): string {
  return `I did not understand that. If you meant ${name}: that name cannot be said to me, only typed; an alias can.`
}
export const INSTRUCTIONS =
  'You are the voice assistant of this home: what you write is spoken. Use the tools for what they can do or know, ' +
  'instead of guessing. What was said may be misheard. Answer in one short sentence, without lists or symbols.'
