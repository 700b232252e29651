import { format } from '@cfworker/json-schema'
import { compilePattern } from './pattern.ts'

export const PATTERN_PREFIX = 'pattern:'

/** The name of a format that checks a pattern; `undefined` if only the gateway can check it. */
export function patternFormat(pattern: string): string | undefined {
  const name = `${PATTERN_PREFIX}${pattern}`
  if (Object.hasOwn(format, name)) return name
  const matcher = compilePattern(pattern)
  if (matcher === undefined) return undefined
  format[name] = text => matcher(text) !== false
  return name
}
