/*
 * All constants of the history, in one place.
 */

export const DEFAULT_DAYS = 30
export const DEFAULT_MAX_MB = 500

/** A call is passed to the writer after this time, or once a batch is full. Including the write it takes under 200 ms. */
export const FLUSH_MS = 50
export const BATCH_CALLS = 1_000
export const BATCH_CHARACTERS = 500_000
/** How much may wait for the writer; calls beyond that are dropped and counted. */
export const MAX_WAITING_CALLS = 50_000
export const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024

/** Larger or deeper values are cleaned and shortened in the thread of the call; smaller ones by the writer. */
export const SMALL_VALUE = { characters: 4_000, values: 100, depth: 8 }
/** Characters of an id, a name or a rule. */
export const MAX_NAME = 200
export const MAX_ERROR = 4_000

/** How often old calls are looked for, and how many are removed at a time, with writing in between. */
export const PRUNE_MS = 10_000
export const PRUNED_CALLS = 2_000
/** The share of `maxMb` reserved for SQLite's journal next to the file, and its upper bound. */
export const JOURNAL_SHARE = 0.2
export const MAX_JOURNAL_BYTES = 8 * 1024 * 1024
/** Above the first share of what is left, the oldest calls are removed until usage is below the second. */
export const FULL_SHARE = 0.8
export const PRUNED_SHARE = 0.75
/** How long to wait for another process using the same file. */
export const BUSY_TIMEOUT_MS = 5_000
/** A file that cannot be opened is retried after this. */
export const REOPEN_MS = 1_000

/** Calls per page. */
export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1_000
/** How many calls an export reads at a time. */
export const EXPORT_PAGE = 500
/** How long a query waits for calls that ended just before it. */
export const READ_WAIT_MS = 1_000
/** Queries that may wait for the reader. */
export const MAX_QUESTIONS = 64

/** How much one-shot commands may spool until the history is opened again. */
export const MAX_SPOOL_BYTES = 16 * 1024 * 1024
