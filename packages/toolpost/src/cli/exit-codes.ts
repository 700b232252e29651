/** The exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** The tool or the answer failed. */
  failed: 1,
  /** The command was misused, or the configuration is wrong: nothing ran. */
  usage: 2,
} as const

/** A misuse of the command line, reported in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}
