import type { Logger } from '../log.ts'

const WINDOW_MS = 10_000
const MAX_IN_WINDOW = 20

type Ignore = (message: { topic: string; text: string }, reason: string) => void

/** Logs what was ignored and why, rate-limited. */
export function ignoredMessages(logger: Logger, now: () => number): Ignore {
  let windowAt = Number.NEGATIVE_INFINITY
  let count = 0
  return ({ topic, text: payload }, reason) => {
    if (now() - windowAt >= WINDOW_MS) {
      const messages = count - MAX_IN_WINDOW
      if (messages > 0) logger.warn({ messages }, 'ignored more messages')
      windowAt = now()
      count = 0
    }
    count += 1
    if (count <= MAX_IN_WINDOW) logger.warn({ topic, payload, reason }, 'ignored a message')
  }
}
