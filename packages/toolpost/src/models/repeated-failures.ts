import type { ToolResult } from '../call/tool-result.ts'
import { isRecord } from '../runtime/guards.ts'
import { MAX_IDENTICAL_FAILURES } from './limits.ts'
import type { RequestedCall } from './read-reply.ts'

/** How often each call has failed in a row, by name and arguments. */
export type Failures = Map<string, number>

/** Records how a call ended; returns whether it has now failed too often with the same arguments. */
export function hasFailedTooOften(failures: Failures, call: RequestedCall, result: ToolResult): boolean {
  const key = `${call.name} ${stableJson(call.args)}`
  const count = result.success ? 0 : (failures.get(key) ?? 0) + 1
  failures.set(key, count)
  return count >= MAX_IDENTICAL_FAILURES
}

/** JSON with sorted keys. A model's arguments came as JSON, so they can be serialized. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    isRecord(entry) ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) : entry,
  )
}
