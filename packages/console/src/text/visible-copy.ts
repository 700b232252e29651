import { isRecord } from '../api/http.ts'
import { visibleText } from './visible-text.ts'

const MAX_DEPTH = 40
const MAX_STRING = 20_000

export interface VisibleCopy {
  value: unknown
  /** Whether anything was left out. */
  isCut: boolean
}

/** A copy of a value of any size that a page can show: bounded, and with hidden characters as escapes. */
export function visibleCopy(value: unknown, maxNodes = 3_000): VisibleCopy {
  const room = { nodes: maxNodes }
  let isCut = false
  const cut = (mark: string) => {
    isCut = true
    return mark
  }
  const copied = (part: unknown, depth: number): unknown => {
    room.nodes -= 1
    if (typeof part === 'string')
      return part.length > MAX_STRING ? cut(`${visibleText(part.slice(0, MAX_STRING))}…`) : visibleText(part)
    if (typeof part !== 'object' || part === null) return part
    if (depth > MAX_DEPTH) return cut('…')
    if (Array.isArray(part)) {
      const items: unknown[] = []
      for (const item of part) {
        if (room.nodes <= 0) return [...items, cut(`… ${part.length - items.length} more`)]
        items.push(copied(item, depth + 1))
      }
      return items
    }
    if (!isRecord(part)) return part
    const made: Record<string, unknown> = Object.create(null)
    const names = Object.keys(part)
    for (const [at, name] of names.entries()) {
      if (room.nodes <= 0) {
        made['…'] = cut(`${names.length - at} more`)
        break
      }
      made[visibleText(name.slice(0, 500))] = copied(part[name], depth + 1)
    }
    return made
  }
  const copy = copied(value, 0)
  return { value: copy, isCut }
}
