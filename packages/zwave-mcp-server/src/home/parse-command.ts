import { isPrimitive, isRecord, type Primitive, parseJson } from '../zwave/payload.ts'

const FULL_LEVEL = 255

/** Parses a `…/set` payload as the gateway does: raw or `{"value": …}`, "on" and "off", numbers for booleans and back. */
export function parseCommand(text: string, type: 'boolean' | 'number'): Primitive | undefined {
  const json = parseJson(text) ?? text
  const value = isRecord(json) ? json.value : json
  const plain = typeof value === 'string' ? fromWord(value) : value
  if (!isPrimitive(plain)) return undefined
  if (type === 'boolean') return typeof plain === 'number' ? plain > 0 : plain
  return typeof plain === 'boolean' ? (plain ? FULL_LEVEL : 0) : plain
}

function fromWord(word: string): Primitive | undefined {
  if (/\b(true|on)\b/i.test(word)) return true
  if (/\b(false|off)\b/i.test(word)) return false
  return undefined
}
