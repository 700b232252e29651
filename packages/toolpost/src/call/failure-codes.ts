/** Why a call failed. `docs/errors.md` explains each; a test keeps the two in sync. */
export const FAILURE_CODES = [
  'unknown_tool',
  'invalid_arguments',
  'invalid_schema',
  'timeout',
  'cancelled',
  'unavailable',
  'denied',
  'limited',
  'tool_error',
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]
