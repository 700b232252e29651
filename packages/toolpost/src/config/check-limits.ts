import { globProblem } from '../runtime/glob.ts'
import type { ToolpostConfig } from './config.ts'
import type { ConfigSource } from './config-source.ts'

/** Checks what the schema cannot express: valid patterns, and limits that limit something. */
export function checkLimits({ limits = {} }: ToolpostConfig, source: ConfigSource): void {
  for (const kind of ['tools', 'servers', 'callers'] as const) {
    for (const [pattern, limit] of Object.entries(limits[kind] ?? {})) {
      const problem = limitProblem(pattern, limit)
      if (problem) throw source.error(['limits', kind, pattern], problem)
    }
  }
}

/** Why a limit is invalid. */
export function limitProblem(
  pattern: string,
  { concurrency, perMinute }: { concurrency?: number; perMinute?: number },
): string | undefined {
  const isEmpty = concurrency === undefined && perMinute === undefined
  return globProblem(pattern) ?? (isEmpty ? "needs 'concurrency' or 'perMinute'" : undefined)
}
