/*
 * Every figure that decides how patient Toolpost is with a server, in one place.
 * `retry` and `connectTimeoutMs` of the configuration override the first three.
 */

/** How many times the first connection is tried, including the retries. */
export const MCP_RETRY_ATTEMPTS = 3
/** Milliseconds before the first retry, doubled for each further one. Delays: 0, 2 s, 4 s. */
export const MCP_RETRY_BASE_DELAY = 2_000
/** A handshake that takes longer is a failed attempt. */
export const CONNECT_TIMEOUT_MS = 10_000

/** How long a package runner (`npx`, `uvx` …) may take: it may have to download the server first. */
export const RUNNER_CONNECT_TIMEOUT_MS = 120_000

/** A lost server is restarted immediately, then after this, then after twice as long … */
export const RECONNECT_BASE_DELAY_MS = 250
/** … but never later than this, for as long as it takes. */
export const RECONNECT_MAX_DELAY_MS = 30_000
/** A server whose first attempts all failed is retried after this, then after twice as long … */
export const FAILED_RETRY_MS = 60_000
/** … but never later than this. */
export const FAILED_MAX_RETRY_MS = 600_000
/** The longest Retry-After that is honoured. */
export const MAX_RETRY_AFTER_MS = 600_000
/** A server that lived this long, or answered a call, was not in a crash loop: it is restarted immediately. */
export const STABLE_AFTER_MS = 10_000

/** The longest message, in either direction: a line on stdout, an event of a stream, the body of a response. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** How many values (`,`, `[` and `{`) a message may have: many small ones take long to parse. */
export const MAX_JSON_VALUES = 250_000

/** What a caller may send with a call in addition to its arguments. */
export const MAX_META_BYTES = 16 * 1024
/** A line longer than this never ends: the server is restarted. */
export const ENDLESS_LINE_BYTES = 1024 * 1024 * 1024

/** How much of the end of a server's stderr is kept. */
export const STDERR_KEPT_BYTES = 8 * 1024
/** How much of it a failed call carries. */
export const STDERR_SHOWN_CHARACTERS = 2_000

/** How long to wait for output after a server exited: one of its children may keep the pipes open forever. */
export const EXIT_GRACE_MS = 20
/** How long a server may take to exit after closing its stdin or stdout. */
export const CLOSED_PIPE_GRACE_MS = 500
/** How long a server may take to exit after we close its stdin before it gets SIGTERM … */
export const STDIN_CLOSED_GRACE_MS = 300
/** … and then this long before it gets SIGKILL. */
export const SIGTERM_GRACE_MS = 1_500
/** How long children that outlive their server may take to exit after each signal. */
export const GROUP_GRACE_MS = 300
/** How often it is checked whether they have. */
export const GROUP_CHECK_MS = 10

/** A list of tools with more pages than this never ends. */
export const MAX_LIST_PAGES = 1_000
/** How many tools one server may have; the rest of its list is left out. */
export const MAX_TOOLS = 5_000
/** A tool whose definition has more values or more text than this is skipped. */
export const MAX_DEFINITION_VALUES = 20_000
export const MAX_DEFINITION_CHARACTERS = 512 * 1024
/** A tool with a longer name is skipped. */
export const MAX_NAME_CHARACTERS = 256
/** A list that changed is not read again for this long, doubling while it keeps changing … */
export const LIST_PAUSE_MS = 500
/** … but no longer than this. */
export const LIST_MAX_PAUSE_MS = 30_000

/** How many times a server may ask for input in place of a result. */
export const MAX_INPUT_ROUNDS = 10
/** How many questions of one server may be open at a time. */
export const MAX_SERVER_REQUESTS = 16
/** How often a task is polled if its server does not say; otherwise as often as it says, within these bounds. */
export const TASK_POLL_MS = 500
export const TASK_MIN_POLL_MS = 100
export const TASK_MAX_POLL_MS = 10_000
/** How long a server lost in the middle of a task may take to come back. */
export const TASK_RECONNECT_MS = 10_000
export const MAX_TASK_ID_CHARACTERS = 1_024
export const MAX_TASK_MESSAGE_CHARACTERS = 1_000
/** How many URLs one rejected call may ask to be visited, and how many visits are tracked until they are completed. */
export const MAX_ADDRESSES = 5
export const MAX_WATCHED_ADDRESSES = 1_000
/** How long to wait for a server's list of resources or prompts; after that it is left out until it arrives. */
export const LIST_TIMEOUT_MS = 5_000
/** How soon a list is read again if reading it failed, or if the server neither reports changes nor says otherwise. */
export const LIST_KEPT_MS = 5_000
/** How much of one list is read; the rest is left out. */
export const MAX_LIST_CHARACTERS = 10 * 1024 * 1024
/** Changes of resources are batched for this long. */
export const UPDATE_PAUSE_MS = 20
/** A longer log message is passed on shortened, as in our own log. */
export const MAX_LOG_CHARACTERS = 64 * 1024
/** The longest question of a server that is shown to the user. */
export const MAX_QUESTION_CHARACTERS = 10_000
/** How long any request other than a call may take. */
export const REQUEST_TIMEOUT_MS = 30_000
/** How much of a server's instructions is passed on. */
export const MAX_INSTRUCTIONS = 20_000

/** Calls are refused while this many bytes wait for a server that does not read its stdin … */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024
/** … and it is restarted if it has not read anything for this long. */
export const UNREAD_GRACE_MS = 3_000
/** A server that has sent this many messages more than it received … */
export const UNASKED_BURST = 100
/** … is not read from for this long after each slice of work it causes. */
export const UNASKED_PAUSE_MS = 16
/** How many progress updates of a call are passed on one by one; after that only the latest, at this interval. */
export const PROGRESS_BURST = 50
export const PROGRESS_INTERVAL_MS = 50
/** How often a server's status is reported while it writes to stderr. */
export const STDERR_TOLD_EVERY_MS = 1_000

/** How long an HTTP server may take to prove that it is alive. */
export const HEALTH_CHECK_MS = 2_000
/** How long to wait for the response to `subscriptions/listen` before listing the tools without it. */
export const LISTEN_GRACE_MS = 500
/** A change stream that was cut is reopened after this, then after twice as long … */
export const RELISTEN_BASE_DELAY_MS = 1_000
/** … but never later than this. */
export const RELISTEN_MAX_DELAY_MS = 60_000
/** How much of the body of a refused HTTP request is shown. */
export const HTTP_ERROR_CHARACTERS = 300
/** A broken stream is resumed no sooner than this, whatever the server says. */
export const MIN_RESUME_DELAY_MS = 250
/** How long an HTTP server may take to end a session. */
export const GOODBYE_MS = 500
