/* Every figure that decides how patient Toolpost is with a server; `retry` and `connectTimeoutMs` override the first three. */

/** How many times the first connection is tried, including the retries. */
export const MCP_RETRY_ATTEMPTS = 3
/** Milliseconds before the first retry, doubled for each further one. Delays: 0, 2 s, 4 s. */
export const MCP_RETRY_BASE_DELAY = 2_000
export const CONNECT_TIMEOUT_MS = 10_000
/** How long a package runner (`npx`, `uvx` …) may take: it may have to download the server first. */
export const RUNNER_CONNECT_TIMEOUT_MS = 120_000

/** A lost server is restarted immediately, then after this, doubling up to the second, for as long as it takes. */
export const RECONNECT_BASE_DELAY_MS = 250
export const RECONNECT_MAX_DELAY_MS = 30_000
/** The longest delay before another attempt of a server that was never ready, and the longest Retry-After that is honoured. */
export const MAX_RETRY_MS = 600_000
/** A server that lived this long, or answered a call, was not in a crash loop: it is restarted immediately. */
export const STABLE_AFTER_MS = 10_000

/** The longest message, in either direction, and how many values (`,`, `[` and `{`) and different keys it may have. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
export const MAX_JSON_VALUES = 250_000
export const MAX_JSON_KEYS = 50_000
/** Calls are refused while this much waits for a server that does not read; it is restarted if that lasts. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024
export const UNREAD_GRACE_MS = 3_000
export const STDERR_KEPT_BYTES = 8 * 1024

/** How long to wait for output after a server exited: one of its children may keep the pipes open forever. */
export const EXIT_GRACE_MS = 20
/** How long a server may take to exit after it closed a pipe, after we closed its stdin, and after SIGTERM. */
export const CLOSED_PIPE_GRACE_MS = 500
export const STDIN_CLOSED_GRACE_MS = 300
export const SIGTERM_GRACE_MS = 1_500

/** How many entries of a list are read (tools, resources, prompts), and how much text they may have in all. */
export const MAX_LISTED = 5_000
export const MAX_LIST_BYTES = 10 * 1024 * 1024
/** How deeply an entry of a list may be nested. */
export const MAX_JSON_LEVELS = 200
/** A list that changed is not read again for this long, doubling while it keeps changing up to the second. */
export const LIST_PAUSE_MS = 500
export const LIST_MAX_PAUSE_MS = 30_000
/** How long any request other than a call may take. */
export const REQUEST_TIMEOUT_MS = 30_000
/** How long to wait for the response to `subscriptions/listen`, and until a stream of changes that was cut is reopened. */
export const LISTEN_GRACE_MS = 500
export const RELISTEN_DELAY_MS = 5_000

/** How many times a server may ask for input in place of a result, and how many questions of it may be open. */
export const MAX_INPUT_ROUNDS = 10
export const MAX_SERVER_REQUESTS = 16
/** How many answers to requests of an HTTP server are under way at once; further ones are dropped. */
export const MAX_ANSWERS = 64
/** How much of a server's instructions is passed on. */
export const MAX_INSTRUCTIONS = 20_000
