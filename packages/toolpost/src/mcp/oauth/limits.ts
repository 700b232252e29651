/*
 * How patient Toolpost is with an authorization server.
 */

/** A request to it that takes longer has failed. */
export const OAUTH_TIMEOUT_MS = 10_000
/** Metadata, keys and tokens are shorter than this. */
export const MAX_OAUTH_BYTES = 1024 * 1024
/** A token is renewed this long before it expires, or at four fifths of its life if that is later. */
export const RENEW_BEFORE_MS = 60_000
/** How often a request is sent anew with another token or a wider scope. */
export const MAX_RENEWALS = 2
/** A login that was begun is forgotten after this time. */
export const LOGIN_TTL_MS = 10 * 60_000
/** Logins begun and not finished that are remembered of one server. */
export const MAX_PENDING_LOGINS = 8
/** The secrets of so many logins, one after the other, are kept out of logs. */
export const REMEMBERED_LOGINS = 20
/** A renewal that failed before its time is not tried again for this long. */
export const RENEWAL_PAUSE_MS = 10_000
/** A lock older than this was left behind by a process that died. */
export const STALE_LOCK_MS = 30_000
/** How often a taken lock is tried. */
export const LOCK_RETRY_MS = 50
/** How often a file is looked at for the login of another process. */
export const WATCH_MS = 500
/** A file of logins is smaller than this. */
export const MAX_LOGIN_BYTES = 256 * 1024
