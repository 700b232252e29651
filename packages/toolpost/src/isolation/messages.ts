import type { WireError } from './wire-error.ts'

/** To the child: one call. The next one is sent after this one was answered. */
export interface CallMessage {
  args: unknown
}

/** From the child: once `ready` or `unusable`, then one `result` or `error` a call. */
export type ChildMessage =
  | { type: 'ready' }
  | { type: 'unusable'; error: WireError }
  | { type: 'result'; value: unknown }
  | { type: 'error'; error: WireError }
