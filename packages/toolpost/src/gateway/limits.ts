/* All limits of the gateway, in one place. */

export const DEFAULT_HOST = '127.0.0.1'
/** How many ports to try after the default one if it is taken. */
export const PORTS_TRIED = 20
/** For Node's HTTP server: a client that stalls gets a 408 and is cut off, so that it does not hold a connection. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
  // A busy client may reuse a connection late, and a write that was sent on a closing one has an unknown outcome.
  keepAliveTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
}
/** Further connections are closed immediately. */
export const MAX_CONNECTIONS = 1_024
/** Event streams and the streams of MCP clients; and the sessions of MCP clients, where idle ones make room. */
export const MAX_STREAMS = 256
export const MAX_MCP_SESSIONS = 256

export const MAX_BODY_BYTES = 10_000_000
/** Of a body without a length: each costs more than its content if it is small. */
export const MAX_BODY_CHUNKS = 50_000
export const MAX_MCP_ANSWER_BYTES = 10_000_000
/** Ten minutes of 16 kHz, 16-bit, mono WAV. */
export const MAX_AUDIO_BYTES = 20_000_000
/** How many of a server's resources or prompts the console shows, and how many an MCP list has. */
export const MAX_OFFERED = 1_000
export const MAX_LISTED = 20_000
/** The longest deadline a caller may ask for. */
export const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** How many calls a list without parameters has, and how large the history in memory may be if none is configured. */
export const RECENT_CALLS = 1_000
export const MAX_MEMORY_MB = 32
/** How large a value may be in the events of a chat and in lists of runs. */
export const RECORDED_BYTES = 64 * 1024
/** How often progress is told, and the longest message of it. */
export const PROGRESS_TOLD_MS = 100
export const MAX_PROGRESS_MESSAGE = 500
/** How often a quiet stream shows that it is alive, and how much may queue up for a client that does not read. */
export const HEARTBEAT_MS = 15_000
export const MAX_WAITING_BYTES = 1024 * 1024

/** How many conversations of a client are kept, and how long each may get. */
export const KEPT_CONVERSATIONS = 100
export const KEPT_TURNS = 100
export const KEPT_CHARACTERS = 500_000
export const MAX_CONVERSATION_NAME = 80
/** How many questions are answered at the same time, and the longest question. */
export const MAX_CHATS = 32
export const MAX_MESSAGE_LENGTH = 100_000

/** How many log messages of its server a call passes on to its client. */
export const MAX_LOGS_PER_SECOND = 100
/** The SDK's clients drop a progress notification that arrives together with the result. */
export const PROGRESS_GAP_MS = 25
/** How long the user may take to answer a tool's question. */
export const ELICITATION_MS = 5 * 60 * 1_000
/** How many questions may be open to one HTTP caller, and how much of one is shown. */
export const MAX_QUESTIONS_OF_ONE = 10
export const MAX_QUESTION_CHARACTERS = 4_000
/** If the client knows tasks, a call that takes longer becomes one; how often and how long it may be polled. */
export const TASK_AFTER_MS = 500
export const TASK_POLL_MS = 500
export const TASK_TTL_MS = 15 * 60 * 1_000
/** How many calls of one client may wait for it, with questions or as tasks; finished ones make room for others. */
export const MAX_CLIENT_CALLS = 500
/** How many resources one client may subscribe to, and how long that waits for the servers before it is acknowledged. */
export const MAX_FOLLOWED = 1_000
export const FOLLOWING_MS = 500

/** How long running calls may continue after the gateway is told to stop, and after they were aborted. */
export const DRAIN_MS = 10_000
export const ABORT_GRACE_MS = 1_000
/** How long the last responses may take to reach their clients before connections are closed. */
export const LAST_WORDS_MS = 250

/** The longest OAuth access token that is checked, and how far the issuer's clock and ours may differ. */
export const MAX_JWT_LENGTH = 8 * 1024
export const JWT_CLOCK_TOLERANCE_S = 10
/** How long the issuer's metadata may take. */
export const ISSUER_TIMEOUT_MS = 5_000

export const MAX_KEY_LENGTH = 255
/** The longest a `respond-async` call waits before it returns the run's location. */
export const MAX_ASYNC_WAIT_MS = 60_000
/** How many runs a list returns. */
export const DEFAULT_RUNS = 50
export const MAX_RUNS = 500
