/*
 * All limits of the gateway, in one place.
 */

export const DEFAULT_HOST = '127.0.0.1'
/** How many ports to try after the default one if it is taken. */
export const PORTS_TRIED = 20

/** For Node's HTTP server: a client that stalls gets a 408 and is cut off, so that it does not hold a connection. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
}
/** Further connections are closed immediately, so that files and connections to servers can still be opened. */
export const MAX_CONNECTIONS = 16_000
/** The listen backlog. Beyond it the system drops silently, and clients retry after a second: the default 511 is low. */
export const CONNECTIONS_WAITING = 4_096

/** A client with more requests than this waiting behind the current one is not read from. */
export const MAX_PIPELINED = 16
/** Beyond this, over all clients, the connection is closed: each request takes some kB. */
export const MAX_PIPELINED_IN_ALL = 10_000

/** The largest request body of the API. */
export const MAX_BODY_BYTES = 1_000_000
/** An array or object in a body costs 1, a name in an object half, any other value a quarter. */
export const MAX_JSON_COST = 150_000
/** Each level costs as much as ten flat values: a megabyte of `{"a":` would block everyone for 70 ms. */
export const MAX_JSON_DEPTH = 60_000
/** Per object: parsing one with 100,000 names takes 90 ms, and listing them another 40 each time. */
export const MAX_JSON_NAMES = 25_000
/** A longer body gets its own turns: 1 MB of small objects takes 50 ms to parse, and as long to inspect. */
export const LONG_BODY_CHARACTERS = 32 * 1024
/** A body longer than this is parsed in slices, which takes several times as long in total. */
export const SLICED_BODY_CHARACTERS = 1_000_000
/** The total size of all bodies being read, not counting small ones. */
export const MAX_BODIES_BYTES = 256 * 1024 * 1024
export const SMALL_BODY_BYTES = 16 * 1024
/** The largest recording: ten minutes of 16 kHz, 16-bit, mono WAV. */
export const MAX_AUDIO_BYTES = 20_000_000
/** The largest message from an MCP client. */
export const MAX_MCP_BODY_BYTES = 4 * 1024 * 1024
export const MAX_MCP_BATCH = 100
/** The largest response to an MCP client: unlike in the HTTP API, it is written in one go. */
export const MAX_MCP_ANSWER = { maxChars: 16 * 1024 * 1024, maxValues: 200_000, maxDepth: 500 }
/** Images and sounds longer than this, as base64, are only linked. */
export const MAX_INLINE_BINARY = 1024 * 1024
/** How many of a server's resources or prompts the console shows. */
export const MAX_OFFERED = 1_000
/** The most resources or prompts in one list: a client reads it in one go. */
export const MAX_LISTED = 20_000
/** The longest deadline a caller may ask for. */
export const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** How many calls the journal keeps … */
export const JOURNAL_CALLS = 1_000
/** … and roughly how much memory it may use. */
export const JOURNAL_BYTES = 32 * 1024 * 1024
/** Only the size is kept of larger arguments and results. */
export const RECORDED_BYTES = 64 * 1024

/** How many events are kept for clients that reconnect, and roughly how much memory they may use. */
export const REPLAYED_EVENTS = 2_000
export const REPLAYED_BYTES = 1024 * 1024
/** Events are sent together, this often … */
export const EVENT_FLUSH_MS = 20
/** … to this many clients at a time, which takes a millisecond or two; in total, at most this share of the time. */
export const TOLD_AT_ONCE = 32
export const EVENT_SHARE = 0.2
/** Progress is published at most this often; its message is cut at this length. */
export const PROGRESS_TOLD_MS = 100
export const MAX_PROGRESS_MESSAGE = 500
/** How often a comment line shows that a quiet connection is alive. */
export const HEARTBEAT_MS = 15_000
export const MAX_EVENT_CLIENTS = 1_000
/** How much of the last calls is sent to a client that was away for too long. */
export const GREETING_BYTES = 256 * 1024
/** How much may queue up for a client that does not read before it is cut off. */
export const MAX_WAITING_BYTES = 1024 * 1024

/** How many conversations are kept, per client and in all, and how long each may get. */
export const KEPT_CONVERSATIONS = 100
export const KEPT_CONVERSATIONS_IN_ALL = 500
export const KEPT_MESSAGES = 200
export const KEPT_TURNS = 100
export const KEPT_CHARACTERS = 500_000
/** A larger file is not read as a conversation. */
export const MAX_CONVERSATION_BYTES = 4_000_000
export const MAX_CONVERSATION_NAME = 80
/** How many questions are answered at the same time. */
export const MAX_CHATS = 32
/** The longest question. */
export const MAX_MESSAGE_LENGTH = 100_000

/** Sessions of MCP clients with a 2025 protocol; the least recently used idle one is dropped first. */
export const MAX_MCP_SESSIONS = 1_000
/** A session idle for this long has expired. */
export const MCP_SESSION_IDLE_MS = 60 * 60 * 1_000
/**
 * The result of a call follows its last progress notification by at least this: the SDK's clients drop a notification
 * that arrives together with the result.
 */
export const PROGRESS_GAP_MS = 25
/** How long the user may take to answer a question. Approvals have their own limit. */
export const ELICITATION_MS = 5 * 60 * 1_000
/** How many calls may wait for their clients to return with answers; the oldest is dropped first. */
export const MAX_ELICITATIONS = 1_000
/** If the client knows the newest protocol's tasks, a call that takes longer becomes one. */
export const TASK_AFTER_MS = 500
/** How often clients are told to poll a task. */
export const TASK_POLL_MS = 500
/** How long a task is kept from its start; a client of 2025-11-25 may choose, within these limits. */
export const TASK_TTL_MS = 15 * 60 * 1_000
export const MIN_TASK_TTL_MS = 10_000
export const MAX_TASK_TTL_MS = 60 * 60 * 1_000
/** How many tasks are kept, per client or session and in all; finished ones make room for others … */
export const MAX_CLIENT_TASKS = 100
export const MAX_TASKS = 1_000
/** … and also if their results exceed roughly this. */
export const MAX_TASK_BYTES = 64 * 1024 * 1024
/** The longest status message of a task. */
export const MAX_TASK_MESSAGE = 1_000
/** How many questions may be open to HTTP callers, in all and per caller. */
export const MAX_QUESTIONS = 100
export const MAX_QUESTIONS_OF_ONE = 10
/** How much of a question is shown, and the longest answer. */
export const MAX_QUESTION_CHARACTERS = 4_000
export const MAX_ANSWER_BYTES = 100_000
/** How many resources one client may subscribe to. */
export const MAX_FOLLOWED = 1_000

/** How long running calls may continue after the gateway is told to stop. */
export const DRAIN_MS = 10_000
/** How long something may continue after it was aborted. */
export const ABORT_GRACE_MS = 1_000
/** How long the last responses may take to reach their clients before connections are closed. */
export const LAST_WORDS_MS = 250

/** The longest OAuth access token that is checked. */
export const MAX_JWT_LENGTH = 8 * 1024
/** How far the issuer's clock and ours may differ. */
export const JWT_CLOCK_TOLERANCE_S = 10
/** How many keys are tried for a token that does not name one. */
export const MAX_KEYS_TRIED = 8
/** How long the issuer may take to respond, and how large its response may be. */
export const ISSUER_TIMEOUT_MS = 5_000
export const MAX_ISSUER_BYTES = 256 * 1024
/** The issuer's keys are fetched again after this long … */
export const ISSUER_KEYS_AGE_MS = 10 * 60 * 1_000
/** … or when a token names an unknown key, but not more often than this. */
export const ISSUER_KEYS_COOL_DOWN_MS = 10_000
/** How long to leave an issuer alone after it failed. */
export const ISSUER_RETRY_MS = 2_000
/** How many subjects are remembered, with their tools. */
export const REMEMBERED_SUBJECTS = 1_000

/** The longest idempotency key. */
export const MAX_KEY_LENGTH = 255
/** The longest a `respond-async` call waits before it returns the run's location. */
export const MAX_ASYNC_WAIT_MS = 60_000
/** How many runs a list returns. */
export const DEFAULT_RUNS = 50
export const MAX_RUNS = 500
