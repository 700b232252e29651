import type { ToolResult } from '../call/tool-result.ts'
import { MAX_IDENTICAL_FAILURES } from './limits.ts'
import type { RequestedCall } from './read-reply.ts'

/** Counts the calls that keep failing in the same way for the same arguments. */
export class RepeatedFailures {
  readonly #failures = new Map<string, number>()

  /** Notes how a call ended; says whether it has now failed too often. */
  note(call: RequestedCall, result: ToolResult): boolean {
    const key = `${call.name} ${stableJson(call.args)}`
    if (result.success) {
      this.#failures.delete(key)
      return false
    }
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    return failures >= MAX_IDENTICAL_FAILURES
  }
}

/** JSON that does not depend on the order of keys. Arguments of a model came as JSON, so they can be written as it. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'object' && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  )
}
