/*
 * Every figure of the gateway, in one place.
 */

export const DEFAULT_HOST = '127.0.0.1'
export const DEFAULT_PORT = 4040
/** How many ports after the default one are tried if that is taken. */
export const PORTS_TRIED = 20

/** Of Node's HTTP server: a client that dawdles is answered with 408 and cut off, so that it holds no connection. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
}
/** More connections are closed at once, so that those to servers, and files, can still be opened. */
export const MAX_CONNECTIONS = 16_000
/** That wait to be accepted. Over it the system says nothing, and the client tries again after a second: 511 are few. */
export const CONNECTIONS_WAITING = 4_096

/** From a client with more requests than this behind the one that is being answered, nothing more is read. */
export const MAX_PIPELINED = 16
/** More than this, of all clients together, and the connection is closed: each takes some kB. */
export const MAX_PIPELINED_IN_ALL = 10_000

/** The largest body of a request to the API. */
export const MAX_BODY_BYTES = 1_000_000
/** A list or a record in a body counts 1, any other value a quarter. */
export const MAX_JSON_COST = 150_000
/** Each level costs as much as ten flat values: a megabyte of `{"a":` would hold everybody up for 70 ms. */
export const MAX_JSON_DEPTH = 60_000
/** Of one object, as in arguments: parsing one with 100,000 names takes 90 ms, and listing them 40, each time. */
export const MAX_JSON_NAMES = 25_000
/** A longer body gets turns of its own: 1 MB of small objects takes 50 ms to parse, and as long to look at. */
export const LONG_BODY_CHARACTERS = 32 * 1024
/** What all bodies that are being read may take together, not counting small ones. */
export const MAX_BODIES_BYTES = 256 * 1024 * 1024
export const SMALL_BODY_BYTES = 16 * 1024
/** The largest recording: ten minutes of 16 kHz, 16-bit, mono WAV. */
export const MAX_AUDIO_BYTES = 20_000_000
/** The largest message of an MCP client. */
export const MAX_MCP_BODY_BYTES = 4 * 1024 * 1024
export const MAX_MCP_BATCH = 100
/** The largest answer to an MCP client: it is written in one go, unlike that of the HTTP API. */
export const MAX_MCP_ANSWER = { maxChars: 16 * 1024 * 1024, maxValues: 200_000, maxDepth: 500 }
/** Images and sounds that are longer, as base64, are only linked to. */
export const MAX_INLINE_BINARY = 1024 * 1024
/** How many of a server's resources or prompts the console is shown. */
export const MAX_OFFERED = 1_000
/** How many resources or prompts one list has at most: a client reads it in one go. */
export const MAX_LISTED = 20_000
/** Larger schemas are not shown; their tools can be called all the same. */
export const MAX_SHOWN_SCHEMA = { maxChars: 1_000_000, maxValues: 20_000, maxDepth: 200 }
/** Larger output schemas are not announced over MCP: each is compiled, to see whether clients can use it. */
export const MAX_OUTPUT_SCHEMA = { ...MAX_SHOWN_SCHEMA, maxValues: 500 }
/** The longest deadline that a caller may ask for. */
export const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** How many calls the journal keeps … */
export const JOURNAL_CALLS = 1_000
/** … and how much memory it takes at most, roughly. */
export const JOURNAL_BYTES = 32 * 1024 * 1024
/** Of larger arguments and results only the size is kept. */
export const RECORDED_BYTES = 64 * 1024

/** How many events are kept for those who come back, and how much memory they take at most, roughly. */
export const REPLAYED_EVENTS = 2_000
export const REPLAYED_BYTES = 1024 * 1024
/** Events are sent together, this often … */
export const EVENT_FLUSH_MS = 20
/** … to so many clients at a time, which takes a millisecond or two; all of it takes no more of the time than this. */
export const TOLD_AT_ONCE = 32
export const EVENT_SHARE = 0.2
/** How far calls are is told this often at most, and in so many words. */
export const PROGRESS_TOLD_MS = 100
export const MAX_PROGRESS_MESSAGE = 500
/** A line that says nothing, so that a quiet connection does not look dead. */
export const HEARTBEAT_MS = 15_000
export const MAX_EVENT_CLIENTS = 2_000
/** What a client that was away too long is told of the last calls. */
export const GREETING_BYTES = 256 * 1024
/** What may wait for a client that does not read; then it is cut off. */
export const MAX_WAITING_BYTES = 1024 * 1024

/** How many conversations are kept, of one client and in all, and how long each may grow. */
export const KEPT_CONVERSATIONS = 100
export const KEPT_CONVERSATIONS_IN_ALL = 500
export const KEPT_MESSAGES = 200
export const KEPT_TURNS = 100
export const KEPT_CHARACTERS = 500_000
/** A larger file is not read as one. */
export const MAX_CONVERSATION_BYTES = 4_000_000
export const MAX_CONVERSATION_NAME = 80
/** How many questions are answered at once. */
export const MAX_CHATS = 32
/** The longest question. */
export const MAX_MESSAGE_LENGTH = 100_000

/** Sessions of MCP clients of the 2025 protocols; of those that are idle, the least recently used goes first. */
export const MAX_MCP_SESSIONS = 1_000
/** An idle session that was not used for so long is over. */
export const MCP_SESSION_IDLE_MS = 60 * 60 * 1_000
/**
 * The answer to a call follows its last notice of progress by at least this: the SDK's clients drop a notice that
 * arrives together with the answer.
 */
export const PROGRESS_GAP_MS = 25
/** How long a person at an MCP client may take to answer a question. Approvals have a limit of their own. */
export const ELICITATION_MS = 5 * 60 * 1_000
/** How many questions may be out at clients that come again with the answer; the oldest goes first. */
export const MAX_ELICITATIONS = 1_000
/** A call of a client that knows the tasks of the newest protocol becomes one if it takes longer. */
export const TASK_AFTER_MS = 500
/** How often clients are told to look at a task. */
export const TASK_POLL_MS = 500
/** How long a task is kept, from its beginning; a client of 2025-11-25 may say, within these. */
export const TASK_TTL_MS = 15 * 60 * 1_000
export const MIN_TASK_TTL_MS = 10_000
export const MAX_TASK_TTL_MS = 60 * 60 * 1_000
/** How many tasks are kept, of one client or session and in all; those that have ended make room for others … */
export const MAX_CLIENT_TASKS = 100
export const MAX_TASKS = 1_000
/** … and so they do if their results take more than this, roughly. */
export const MAX_TASK_BYTES = 64 * 1024 * 1024
/** How much is kept of what a task says about how far it is. */
export const MAX_TASK_MESSAGE = 1_000
/** How many questions may be open to callers over HTTP, in all and to one. */
export const MAX_QUESTIONS = 100
export const MAX_QUESTIONS_OF_ONE = 10
/** What is shown of one, and the longest answer. */
export const MAX_QUESTION_CHARACTERS = 4_000
export const MAX_ANSWER_BYTES = 100_000
/** How many resources one client may follow. */
export const MAX_FOLLOWED = 1_000

/** How long calls under way may go on after the gateway was told to stop. */
export const DRAIN_MS = 10_000
/** How long something may go on after it was aborted. */
export const ABORT_GRACE_MS = 1_000
/** What was answered last is on its way; after this its connection is closed. */
export const LAST_WORDS_MS = 250

/** The longest access token of an OAuth issuer that is looked at. */
export const MAX_JWT_LENGTH = 8 * 1024
/** How far the issuer's clock and ours may differ. */
export const JWT_CLOCK_TOLERANCE_S = 10
/** A token that names no key is tried with so many. */
export const MAX_KEYS_TRIED = 8
/** For an answer of the issuer, and how large it may be. */
export const ISSUER_TIMEOUT_MS = 5_000
export const MAX_ISSUER_BYTES = 256 * 1024
/** The issuer's keys are fetched again after so long … */
export const ISSUER_KEYS_AGE_MS = 10 * 60 * 1_000
/** … or when a token names one that is not among them, but not more often than this. */
export const ISSUER_KEYS_COOL_DOWN_MS = 10_000
/** After an issuer failed, it is left alone for so long. */
export const ISSUER_RETRY_MS = 2_000
/** How many subjects' tools are remembered. */
export const REMEMBERED_SUBJECTS = 1_000

/** The longest idempotency key. */
export const MAX_KEY_LENGTH = 255
/** The longest wait before a caller that would rather come again is told where. */
export const MAX_ASYNC_WAIT_MS = 60_000
/** How many runs one list has. */
export const DEFAULT_RUNS = 50
export const MAX_RUNS = 500
