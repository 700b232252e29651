import { globProblem } from '../runtime/glob.ts'
import type { ToolpostConfig } from './config.ts'
import type { ConfigSource } from './config-source.ts'

/** Checks what the schema cannot express: valid patterns, and limits that limit something. */
export function checkLimits({ limits = {} }: ToolpostConfig, source: ConfigSource): void {
  for (const kind of ['tools', 'servers', 'callers'] as const) {
    for (const [pattern, { concurrency, perMinute }] of Object.entries(limits[kind] ?? {})) {
      const isEmpty = concurrency === undefined && perMinute === undefined
      const problem = globProblem(pattern) ?? (isEmpty ? "needs 'concurrency' or 'perMinute'" : undefined)
      if (problem) throw source.error(['limits', kind, pattern], problem)
    }
  }
}
