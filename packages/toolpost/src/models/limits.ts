/** How often a model may ask for calls in one question. */
export const DEFAULT_MAX_ITERATIONS = 10

/** How long one question may take, calls included. A model on a small machine needs a while for its first word. */
export const DEFAULT_TIME_LIMIT_MS = 120_000

/** An identical call that failed so often will not succeed. */
export const MAX_IDENTICAL_FAILURES = 3

/** Requests to a provider that is busy, the first one included. */
export const MAX_ATTEMPTS = 6
export const RETRY_BASE_DELAY_MS = 1_000
export const RETRY_MAX_DELAY_MS = 30_000
