import { visibleText } from './visible-text.ts'

/** Deeper values are shown as `…`. */
const MAX_DEPTH = 60

interface Printed {
  text: string
  /** Whether nothing was cut off at the end. */
  whole: boolean
}

/** A value of any size and depth as JSON, cut after `limit` characters; `undefined` becomes `nothing`. */
export function jsonText(value: unknown, limit: number, indent = 2): Printed {
  if (value === undefined) return { text: 'nothing', whole: true }
  const room = { left: limit }
  const json = JSON.stringify(start(value, room, 0), null, indent) ?? ''
  return { text: visibleText(json.slice(0, limit)), whole: room.left >= 0 && json.length <= limit }
}

/** Enough of a value for `room` characters: JSON.stringify fails on a deep value and is slow on a large one. */
function start(value: unknown, room: { left: number }, depth: number): unknown {
  const before = room.left
  room.left -= typeof value === 'string' ? value.length : 1
  if (typeof value === 'string') return value.slice(0, before + 1)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return '…'
  const kept: [string, unknown][] = []
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    if (room.left < 0) break
    room.left -= typeof name === 'string' ? name.length : 0
    kept.push([String(name), start((value as Record<string, unknown>)[name], room, depth + 1)])
  }
  return Array.isArray(value) ? kept.map(([, item]) => item) : Object.fromEntries(kept)
}
