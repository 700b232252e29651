import { clipped } from './visible-text.ts'

/** Deeper values become `…`: JSON.stringify fails on them. */
const MAX_DEPTH = 40
/** The room that a value takes besides its text. */
const VALUE_ROOM = 10

interface BoundedCopy {
  value: unknown
  /** Whether anything was left out. */
  isCut: boolean
}

/** As much of a value of any size and depth as fits into `room` characters; `shown` changes its texts and names. */
export function boundedCopy(value: unknown, room: number, shown = (text: string) => text): BoundedCopy {
  let left = room
  let isCut = false
  const cut = (start = '') => {
    isCut = true
    return `${start}…`
  }
  const copyText = (text: string) => {
    const start = shown(text.slice(0, Math.max(0, left)))
    left -= text.length
    return left < 0 ? cut(start) : start
  }
  const copy = (part: unknown, depth: number): unknown => {
    left -= VALUE_ROOM
    if (typeof part === 'string') return copyText(part)
    if (typeof part !== 'object' || part === null) return part
    if (depth === MAX_DEPTH) return cut()
    const isList = Array.isArray(part)
    const kept: [string, unknown][] = []
    for (const [name, inner] of isList ? part.entries() : Object.entries(part)) {
      if (left <= 0) {
        kept.push(['…', cut()])
        break
      }
      kept.push([isList ? '' : copyText(String(name)), copy(inner, depth + 1)])
    }
    return isList ? kept.map(([, item]) => item) : Object.fromEntries(kept)
  }
  const copied = copy(value, 0)
  return { value: copied, isCut }
}

/** A value as JSON, cut after `limit` characters; `undefined` becomes `nothing`. */
export function jsonText(value: unknown, limit: number, indent = 2): string {
  // Every value has at least one character, so that the text is full before the copy is.
  const { value: copied } = boundedCopy(value, limit * VALUE_ROOM)
  return clipped(JSON.stringify(copied, null, indent) ?? 'nothing', limit)
}

/** The value of a JSON text; `undefined` if it is none. */
export function parsedJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
