import { isRecord } from '../api/http.ts'
import { oneLine } from './visible-text.ts'

const VERBS = ['action', 'command', 'operation', 'op', 'verb', 'method']
/** Names of arguments that say what a call is about, most telling first. */
const SUBJECTS =
  /^(?:device|entity|scene|file|tool|user|channel|repo|table|project)?(?:name|title|path|file|target|expression|query|subject|url|uri|to|recipient|command|device|text|message|id|timezone|location|city)$/

/** What a call does, in words, from its own name and arguments only: `Unlock Back Door Lock`, `Math eval 6 * 7`. */
export function callWords(tool: string, args: unknown): string {
  const entries = isRecord(args) ? Object.entries(args) : []
  const verb = entries.find(([key, value]) => VERBS.includes(key.toLowerCase()) && isShort(value))
  const others = entries.filter(([key]) => key !== verb?.[0])
  const texts = others.filter(([, value]) => isShort(value))
  const subject = texts.find(([key]) => SUBJECTS.test(key.toLowerCase().replaceAll('_', ''))) ?? texts[0]
  const rest = others.filter(entry => entry !== subject).flatMap(([key, value]) => detail(key, value))
  const what = verb ? verbWords(String(verb[1])) : spoken(tool)
  const words = [what, subject ? oneLine(String(subject[1]), 80) : ''].filter(Boolean).join(' ')
  return [words, ...rest.slice(0, 3)].filter(Boolean).join(', ')
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= 120
}

function verbWords(verb: string): string {
  const words = spoken(verb)
  return /^(on|off)$/i.test(words) ? `Turn ${words.toLowerCase()}` : words
}

function detail(key: string, value: unknown): string[] {
  const label = spoken(key).toLowerCase()
  if (typeof value === 'number') return [`${label} ${value}`]
  if (typeof value === 'boolean') return [value ? label : `no ${label}`]
  return isShort(value) ? [`${label} ${oneLine(String(value), 40)}`] : []
}

/** `control_zwave_device` and `controlZwaveDevice` become `Control zwave device`. */
function spoken(name: string): string {
  const words = name
    .slice(0, 80)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .trim()
    .toLowerCase()
  return oneLine(words.charAt(0).toUpperCase() + words.slice(1), 80)
}
