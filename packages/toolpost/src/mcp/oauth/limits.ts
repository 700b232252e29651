/*
 * How patient Toolpost is with an authorization server.
 */

/** A request that takes longer has failed. */
export const OAUTH_TIMEOUT_MS = 10_000
/** Metadata, keys and tokens may not be longer than this. */
export const MAX_OAUTH_BYTES = 1024 * 1024
/** A token is renewed this long before it expires, or at four fifths of its life if that is later. */
export const RENEW_BEFORE_MS = 60_000
/** How many times a request is sent again with another token or a wider scope. */
export const MAX_RENEWALS = 2
/** An unfinished login is forgotten after this time. */
export const LOGIN_TTL_MS = 10 * 60_000
/** How many unfinished logins are remembered per server. */
export const MAX_PENDING_LOGINS = 8
/** The secrets of this many recent logins are kept out of logs. */
export const REMEMBERED_LOGINS = 20
/** A renewal that failed while the old token was still valid is not retried for this long. */
export const RENEWAL_PAUSE_MS = 10_000
/** A lock that was not touched for this long was left behind by a process that died. */
export const STALE_LOCK_MS = 30_000
/** How often a taken lock is tried. */
export const LOCK_RETRY_MS = 50
/** How often a file is checked for the login of another process. */
export const WATCH_MS = 500
/** The file with all logins may not be larger than this. */
export const MAX_LOGINS_BYTES = 4 * 1024 * 1024
