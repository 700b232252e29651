/** How often a model may ask for calls in one question. */
/** Longer lists of tools confuse small models, and fill the context of all. */
export const DEFAULT_MAX_TOOLS = 40
export const DEFAULT_MAX_ITERATIONS = 10

/** How long one question may take, calls included. A model on a small machine needs a while for its first word. */
export const DEFAULT_TIME_LIMIT_MS = 120_000

/** An identical call that failed so often will not succeed. */
export const MAX_IDENTICAL_FAILURES = 3

/** Requests to a provider that is busy, the first one included. */
export const MAX_ATTEMPTS = 6
export const RETRY_BASE_DELAY_MS = 1_000
export const RETRY_MAX_DELAY_MS = 30_000

/** The longest reply of a model, arguments included, in characters. */
export const MAX_REPLY_CHARS = 2_000_000
/** The most calls in one reply. A model that asks for more has lost its way: none of them runs. */
export const MAX_CALLS_IN_REPLY = 100
/** What a provider may send: in one reply, and in one line of it. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024
export const MAX_LINE_BYTES = 4 * 1024 * 1024
