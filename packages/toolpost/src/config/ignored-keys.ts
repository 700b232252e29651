import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../runtime/has-swap.ts'
import { joinPlace } from '../schema/explain.ts'
import type { ConfigPath } from './config-source.ts'

/** A key that Toolpost does not know. */
export interface IgnoredKey {
  path: ConfigPath
  /** The key of ours that was probably meant. */
  meant: string | undefined
}

const MAX_SHOWN = 20

/** One line naming them, or the first few. */
export function ignoredLine(file: string, keys: readonly IgnoredKey[]): string | undefined {
  if (keys.length === 0) return undefined
  // Likely mistakes come first, so they are not left out.
  const sorted = [...keys].sort((a, b) => Number(b.meant !== undefined) - Number(a.meant !== undefined))
  const shown = sorted.slice(0, MAX_SHOWN).map(({ path, meant }) => {
    const place = path.map(String).reduce(joinPlace, '')
    return meant === undefined ? place : `${place} (did you mean '${meant}'?)`
  })
  const more = keys.length > MAX_SHOWN ? ` and ${keys.length - MAX_SHOWN} more` : ''
  return `⚠️ ${file}: ignoring unknown ${keys.length === 1 ? 'key' : 'keys'} ${shown.join(', ')}${more}`
}

/** The known key closest to a misspelt one. */
export function nearestKey(key: string, known: Iterable<string>): string | undefined {
  const wanted = comparable(key)
  return [...known].find(each => isNear(wanted, comparable(each)))
}

function isNear(one: string, other: string): boolean {
  if (one === other || hasSwap(one, other)) return true
  const shorter = Math.min(one.length, other.length)
  return shorter >= 4 && one.length < 64 && distance(one, other) <= (shorter > 6 ? 2 : 1)
}

function comparable(key: string): string {
  return key.toLowerCase().replace(/[-_\s]/g, '')
}
