import { isRecord } from '../api/http.ts'

export interface Difference {
  /** `deviceName`, `items[2].name`; empty for the value itself. */
  path: string
  /** `undefined` if it is missing there. */
  before: unknown
  after: unknown
}

const MAX_PATHS = 2_000

/** Where two values differ, leaf by leaf. */
export function differencesOf(before: unknown, after: unknown): Difference[] {
  const left = leavesOf(before)
  const right = leavesOf(after)
  return [...new Set([...left.keys(), ...right.keys()])]
    .map(path => ({ path, before: left.get(path), after: right.get(path) }))
    .filter(difference => JSON.stringify(difference.before) !== JSON.stringify(difference.after))
}

/** The values that contain no others, by path; as many as fit on a page. */
export function leavesOf(value: unknown): Map<string, unknown> {
  const leaves = new Map<string, unknown>()
  const visit = (part: unknown, path: string, depth: number): void => {
    if (leaves.size >= MAX_PATHS) return
    const isList = Array.isArray(part)
    const entries = isList || isRecord(part) ? Object.entries(part) : []
    if (entries.length === 0 || depth > 30) {
      leaves.set(path, part)
      return
    }
    for (const [name, inner] of entries)
      visit(inner, isList ? `${path}[${name}]` : path ? `${path}.${name}` : name, depth + 1)
  }
  visit(value, '', 0)
  return leaves
}
