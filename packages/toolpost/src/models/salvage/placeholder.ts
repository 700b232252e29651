import { isRecord } from '../../runtime/guards.ts'

const TYPE_WORDS = new Set('string number integer boolean object array value null any text'.split(' '))
const MAX_DEPTH = 10

/** Whether a value stands for another: `<city>`, `{city}`, `YOUR_CITY`, `...`, `string`, or the argument's own name. */
export function isPlaceholder(name: string, value: unknown, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true
  if (Array.isArray(value)) return value.some(one => isPlaceholder(name, one, depth + 1))
  if (isRecord(value)) return Object.entries(value).some(([key, one]) => isPlaceholder(key, one, depth + 1))
  return typeof value === 'string' && isTemplate(value.trim(), name)
}

function isTemplate(text: string, name: string): boolean {
  if (text === '...' || text === '…' || text.toLowerCase() === name.toLowerCase()) return text !== ''
  if (TYPE_WORDS.has(text.toLowerCase())) return true
  if (/^(?:<.*>|\{.*\}|\[.*\]|\$\w+|\$\{.*\})$/.test(text)) return true
  return /^(?:YOUR|THE|SOME|MY)_[A-Z_]+$/.test(text) || /\.\.\.$/.test(text)
}
