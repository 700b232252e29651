/** 1: the tool or the answer failed. 2: the command was misused, or the configuration is wrong; nothing ran. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** A misuse of the command line, reported in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}
