/** Longer tool lists confuse small models and fill up any context. */
export const DEFAULT_MAX_TOOLS = 40
/** How many times a model may ask for calls in one question. */
export const DEFAULT_MAX_ITERATIONS = 10

/** How long one question may take, calls included. On a small machine, the first token takes a while. */
export const DEFAULT_TIME_LIMIT_MS = 120_000

/** An identical call that failed this often will not succeed. */
export const MAX_IDENTICAL_FAILURES = 3

/** Requests to a busy provider, including the first. */
export const MAX_ATTEMPTS = 6
export const RETRY_BASE_DELAY_MS = 1_000
export const RETRY_MAX_DELAY_MS = 30_000

/** The longest model reply, arguments included. */
export const MAX_REPLY_BYTES = 512 * 1024
/** The most calls in one reply. A model that asks for more is stuck in a loop: none of them runs. */
export const MAX_CALLS_IN_REPLY = 100
/** What a provider may send in one reply. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024

/** Images of one result that a model is shown, and their size as base64. */
export const MAX_IMAGES = 8
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024
