/** What the command line exits with. */
export const EXIT = {
  ok: 0,
  /** There was no answer. */
  failed: 1,
  /** The command was misused, or the configuration is wrong: nothing was run. */
  usage: 2,
} as const

/** A misuse of the command line, to be said in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}
