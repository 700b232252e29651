/*
 * Every figure of the gateway, in one place.
 */

export const DEFAULT_HOST = '127.0.0.1'
export const DEFAULT_PORT = 4040
/** How many ports after the default one are tried where that is taken. */
export const PORTS_TRIED = 20
/** A shorter token could be guessed. */
export const MIN_TOKEN_LENGTH = 16

/** The largest body of a request to the API. */
export const MAX_BODY_BYTES = 1_000_000
/** The largest recording: ten minutes of 16 kHz, 16-bit, mono WAV. */
export const MAX_AUDIO_BYTES = 20_000_000
/** The largest message of an MCP client. */
export const MAX_MCP_BODY_BYTES = 4 * 1024 * 1024
/** The longest deadline that a caller may ask for. */
export const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** How many calls the journal keeps … */
export const JOURNAL_CALLS = 1_000
/** … and how much memory it takes at most, roughly. */
export const JOURNAL_BYTES = 32 * 1024 * 1024
/** Arguments and results that are larger are only counted. */
export const RECORDED_BYTES = 64 * 1024

/** How many events are kept for those who come back, and how much memory they take at most, roughly. */
export const REPLAYED_EVENTS = 2_000
export const REPLAYED_BYTES = 16 * 1024 * 1024
/** Events are sent together, this often. */
export const EVENT_FLUSH_MS = 20
/** A line that says nothing, so that nobody takes a quiet connection for a dead one. */
export const HEARTBEAT_MS = 15_000
/** What may wait for a client that does not read; then it is cut off. */
export const MAX_WAITING_BYTES = 1024 * 1024

/** How many conversations are kept in memory, and how long each may grow. */
export const KEPT_CONVERSATIONS = 100
export const KEPT_MESSAGES = 200
/** The longest question. */
export const MAX_MESSAGE_LENGTH = 100_000

/** Sessions of MCP clients of the 2025 protocols; the one that was used least recently goes first. */
export const MAX_MCP_SESSIONS = 1_000
/** A session that nothing was heard of for so long is over. */
export const MCP_SESSION_IDLE_MS = 60 * 60 * 1_000
/**
 * The answer to a call follows its last notice of progress by at least this: the SDK's clients drop a notice that
 * arrives together with the answer.
 */
export const PROGRESS_GAP_MS = 5
/** Changes of the list of tools are told together. */
export const LIST_CHANGE_DELAY_MS = 20

/** How long calls under way may go on after the gateway was told to stop. */
export const DRAIN_MS = 10_000
