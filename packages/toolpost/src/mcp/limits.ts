import { SLICE_MS } from '../runtime/slices.ts'

/*
 * Every figure that decides how patient Toolpost is with a server, in one place.
 * `retry` and `connectTimeoutMs` of the configuration override the first three.
 */

/** How often a first connection is tried: once, and the retries. */
export const MCP_RETRY_ATTEMPTS = 3
/** Milliseconds before the first retry; each further one waits twice as long. Delays: 0, 2 s, 4 s. */
export const MCP_RETRY_BASE_DELAY = 2_000
/** A handshake that takes longer is a failed attempt. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A lost server is started again at once, then after this, then after twice as long … */
export const RECONNECT_BASE_DELAY_MS = 250
/** … but never later than this, for as long as it takes. */
export const RECONNECT_MAX_DELAY_MS = 30_000
/** A server whose first attempts all failed is tried again after this, then after twice as long … */
export const FAILED_RETRY_MS = 60_000
/** … but never later than this. */
export const FAILED_MAX_RETRY_MS = 600_000
/** A server may ask to be left alone for this long, and no longer. */
export const MAX_RETRY_AFTER_MS = 600_000
/** A server that lived this long, or answered a call, was not in a crash loop: its next start is at once again. */
export const STABLE_AFTER_MS = 10_000

/** The longest message that a server may send: a line on stdout, an event of a stream, the body of an answer. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

/** What a caller may send along with a call, beside its arguments. */
export const MAX_META_BYTES = 16 * 1024
/** Longer messages are parsed in slices, because they would hold up everything else. */
export const SLICED_OVER_CHARACTERS = 128 * 1024
/** A message may have one value (list, object, text, number …) for so many bytes of `maxLineBytes`: 1,048,576 in all. */
export const BYTES_PER_VALUE = 16
/** So much of a body over HTTP is read at once, before others get their turn; a chunk counts at least for what it costs. */
export const READ_AT_ONCE_BYTES = 64 * 1024
export const CHUNK_COST_BYTES = 512
/** A line that goes on for this long has no end: the server is started anew. */
export const ENDLESS_LINE_BYTES = 1024 * 1024 * 1024
/** How much is kept of both ends of a line that is too long, to tell which call it answers. */
export const LONG_LINE_ENDS_BYTES = 1_024

/** How much of a server's stderr is kept, from its end. */
export const STDERR_KEPT_BYTES = 64 * 1024
/** How much of it a failed call carries. */
export const STDERR_SHOWN_CHARACTERS = 2_000

/** How long output is waited for after a server exited: a child of its own may hold the pipes open for ever. */
export const EXIT_GRACE_MS = 20
/** How long a server may take to exit once it closed its own stdin or stdout. */
export const CLOSED_PIPE_GRACE_MS = 500
/** A server whose stdin was closed may take this long to exit before it gets SIGTERM … */
export const STDIN_CLOSED_GRACE_MS = 300
/** … and then this long before it gets SIGKILL. */
export const SIGTERM_GRACE_MS = 1_500
/** How long children that outlive their server may take to end, each time they are signalled. */
export const GROUP_GRACE_MS = 500
/** How often it is noted what runs below a server: some of it could not be found afterwards … */
export const LOOK_EVERY_MS = 1_000
/** … but no more of the time than this is spent on it … */
export const LOOK_SHARE = 0.002
/** … and no more processes of one server are noted. */
export const MAX_KNOWN_PROCESSES = 1_000

/** A list of tools that has more pages than this has no end. */
export const MAX_LIST_PAGES = 1_000
/** Tools that one server may have; the rest of its list is left out. */
export const MAX_TOOLS = 20_000
/** A tool's definition with more values or more text than this is skipped. */
export const MAX_DEFINITION_VALUES = 20_000
export const MAX_DEFINITION_CHARACTERS = 512 * 1024
/** A tool with a longer name is skipped. */
export const MAX_NAME_CHARACTERS = 256
/** After a list that changed it is not read again for this long, twice as long if it goes on … */
export const LIST_PAUSE_MS = 500
/** … but no longer than this. */
export const LIST_MAX_PAUSE_MS = 30_000

/** How often a server may ask for more input in place of a result. */
export const MAX_INPUT_ROUNDS = 10
/** How many questions of one server may be open at once. */
export const MAX_SERVER_REQUESTS = 16
/** A task is looked at as often as its server says, within these; this often if it does not say. */
export const TASK_POLL_MS = 500
export const TASK_MIN_POLL_MS = 100
export const TASK_MAX_POLL_MS = 10_000
/** How long a server that is lost in the middle of a task may take to come back. */
export const TASK_RECONNECT_MS = 10_000
/** How long a server is to keep a task that nobody asks for, if its protocol lets us say. */
export const TASK_TTL_MS = 60 * 60 * 1_000
/** Tools that may or may not be called as tasks are if a call may take this long: a direct call is cheaper. */
export const TASK_FROM_MS = 60_000
export const MAX_TASK_ID_CHARACTERS = 1_024
export const MAX_TASK_MESSAGE_CHARACTERS = 1_000
/** Addresses that one refused call may ask to be visited, and those that it is remembered of who was asked. */
export const MAX_ADDRESSES = 5
export const MAX_WATCHED_ADDRESSES = 1_000
/** How long is waited for a server's list of resources or prompts; then it is left out until it is there. */
export const LIST_TIMEOUT_MS = 5_000
/** A list of a server that does not tell of changes is read again after this, unless the server says otherwise; as one that failed. */
export const LIST_KEPT_MS = 5_000
/** What is read of one list; the rest is left out. */
export const MAX_LIST_CHARACTERS = 32 * 1024 * 1024
/** Changes of resources are told of together, this often. */
export const UPDATE_PAUSE_MS = 20
/** A longer log message is passed on as it stands in the log: in part. */
export const MAX_LOG_CHARACTERS = 64 * 1024
/** The longest question of a server that a person is shown. */
export const MAX_QUESTION_CHARACTERS = 10_000
/** How long any other request than a call may take. */
export const REQUEST_TIMEOUT_MS = 30_000
/** How much of a server's instructions is passed on. */
export const MAX_INSTRUCTIONS = 20_000

/** Calls are refused while so many bytes wait for a server that does not read its stdin … */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024
/** … and it is restarted if it has not read anything for this long. */
export const UNREAD_GRACE_MS = 3_000
/** A server that has sent so many messages more than it got … */
export const UNASKED_BURST = 100
/** … is not read from for this long after each slice of work that it causes. */
export const UNASKED_PAUSE_MS = 2 * SLICE_MS
/** What a message costs that the SDK handles, later in the same turn. */
export const SDK_MESSAGE_MS = 0.2
/** What a server's own request costs over HTTP: it is answered with a request. */
export const HTTP_REPLY_MS = 2
/** So many progress notices of a call are passed on one by one; of further ones the latest, every so often. */
export const PROGRESS_BURST = 50
export const PROGRESS_INTERVAL_MS = 50
/** While a server writes to stderr, its status is told this often. */
export const STDERR_TOLD_EVERY_MS = 1_000

/** How many cancelled calls are remembered, so that their late answers are known as such. */
export const REMEMBERED_CALLS = 10_000
/** How long an HTTP server may take to show that it is still there. */
export const HEALTH_CHECK_MS = 2_000
/** How long the answer to `subscriptions/listen` is waited for before the tools are listed without it. */
export const LISTEN_GRACE_MS = 500
/** A stream of changes that was cut is opened again after this, then after twice as long … */
export const RELISTEN_BASE_DELAY_MS = 1_000
/** … but never later than this. */
export const RELISTEN_MAX_DELAY_MS = 60_000
/** How much is shown of the body of a refused HTTP request. */
export const HTTP_ERROR_CHARACTERS = 300
/** A broken stream is taken up again no sooner than this, whatever the server says. */
export const MIN_RESUME_DELAY_MS = 250
/** How long an HTTP server may take to hear that a session ends. */
export const GOODBYE_MS = 500
/** The longest time that Node's timers take: the executor holds the deadlines, not the SDK. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
