import type { WireError } from './wire-error.ts'

/** To the child: one call. The next is sent after this one has been answered. */
export interface CallMessage {
  args: unknown
}

/** From the child: `ready` or `unusable` once, then one `result` or `error` per call. */
export type ChildMessage =
  | { type: 'ready' }
  | { type: 'unusable'; error: WireError }
  | { type: 'result'; value: unknown }
  | { type: 'error'; error: WireError }
