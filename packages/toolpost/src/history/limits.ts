/*
 * Every figure of the history, in one place.
 */

export const DEFAULT_DAYS = 30
export const DEFAULT_MAX_MB = 500

/** A call is handed to the writer this soon, or once so many wait. With the writing it stays under 200 ms. */
export const FLUSH_MS = 50
export const BATCH_CALLS = 1_000
export const BATCH_CHARACTERS = 500_000
/** What may wait for the writer; calls beyond it are dropped, and counted. */
export const MAX_WAITING_CALLS = 50_000
export const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024

/** Larger or deeper values are cleaned and shortened in the thread of the call; those below it by the writer. */
export const SMALL_VALUE = { characters: 4_000, values: 100, depth: 8 }
/** Of an id, a name, a rule. */
export const MAX_NAME = 200
export const MAX_ERROR = 4_000

/** Old calls are looked for this often; so many are removed at a time, with writing in between. */
export const PRUNE_MS = 10_000
export const PRUNED_CALLS = 2_000
/** Of `maxMb`, so much is for SQLite's journal beside the file, at most. */
export const JOURNAL_SHARE = 0.2
export const MAX_JOURNAL_BYTES = 8 * 1024 * 1024
/** Above this share of what is left, the oldest calls are removed, until it is below the second. */
export const FULL_SHARE = 0.8
export const PRUNED_SHARE = 0.75
/** How long a second process on the same file is waited for. */
export const BUSY_TIMEOUT_MS = 5_000
/** A file that cannot be opened is tried again after this. */
export const REOPEN_MS = 1_000

/** Calls of one answer. */
export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1_000
/** An export reads so many at a time. */
export const EXPORT_PAGE = 500
/** How long a question waits for what was called just before it. */
export const READ_WAIT_MS = 1_000
/** Questions that may wait for the reader. */
export const MAX_QUESTIONS = 64

/** What one-shot commands may leave for the next one that opens the file. */
export const MAX_SPOOL_BYTES = 16 * 1024 * 1024
