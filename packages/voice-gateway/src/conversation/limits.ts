/*
 * The defaults for conversations, in one place.
 */

/** How many utterances may wait, and how much audio in total; more is refused. */
export const QUEUE_LIMIT = 16
export const QUEUE_BYTES = 64 * 1024 * 1024
/** If an answer takes longer, a filler is spoken. */
export const FILLER_AFTER_MS = 1_500
export const FILLER = 'One moment.'
/** How long one answer may take, calls included. */
export const ANSWER_TIME_LIMIT_MS = 60_000
/** How long after a question a yes or no counts as its answer; silence means no. */
export const ANSWER_WINDOW_MS = 8_000
/** How many conversations are remembered, and how many messages each: small models read slowly. */
export const KEPT_CONVERSATIONS = 50
export const KEPT_MESSAGES = 40
/** The longest text accepted as one utterance. */
export const MAX_TEXT_LENGTH = 10_000
/** How long an answer in progress may take when the gateway closes. */
export const DRAIN_MS = 10_000
export const CLOSED = 'the voice gateway was closed'
/** The answer if a command was misheard and therefore not carried out. */
export const NOT_MEANT = 'Nothing was done.'
export const INSTRUCTIONS =
  'You are the voice assistant of this home: what you write is spoken. Use the tools for what they can do or know, ' +
  'instead of guessing. What was said may be misheard. Answer in one short sentence, without lists or symbols.'
