import type { ToolResult } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import { isObjectLike } from '../../runtime/guards.ts'
import { listWords } from './meaning.ts'
import { sayReadings } from './zwave.ts'

/** Longer answers are tiring to hear. */
const MAX_SPOKEN_CHARS = 300

/** A result as one short sentence to speak. */
export function phraseAnswer(result: ToolResult): string {
  if (!result.success) return asSentence(shortened(`That did not work: ${result.error}`))
  const done = doneIn(result)
  const said = result.text ?? (done ? `${done.device} is ${done.state}` : wordsFor(result.result))
  return asSentence(shortened(sayReadings(result.result) ?? said))
}

/** The results of several calls as one sentence; `noun` is what they were about: "lights". */
export function phraseResults(results: readonly ToolResult[], noun?: string): string {
  const [first, ...others] = results
  if (!first) return 'Done.'
  if (others.length === 0 && noun === undefined) return phraseAnswer(first)
  const done = results.map(doneIn)
  const [state] = done
  const isOne = state !== undefined && done.every(one => one?.state === state.state)
  if (!isOne) return phraseTogether(results.map(phraseAnswer))
  const names = listWords(done.map(one => one?.device ?? ''))
  if (done.length === 1) return asSentence(`${names} is ${state.state}`)
  const counted = `${done.length} ${noun ?? 'devices'} are ${state.state}`
  if (done.length > MAX_NAMED) return asSentence(counted)
  return asSentence(noun === undefined ? `${names} are ${state.state}` : `${counted}: ${names}`)
}

const MAX_NAMED = 5

/** The state a device confirmed after a command, if it did. */
function doneIn(result: ToolResult): { device: string; state: string } | undefined {
  if (!result.success) return undefined
  const { device, state, confirmed } = Object(result.result) as Record<string, unknown>
  return confirmed === true && typeof device === 'string' && typeof state === 'string'
    ? { device, state }
    : undefined
}

/** Several sentences as one. If two are about the same thing, only the last is kept. */
export function phraseTogether(sentences: readonly string[]): string {
  const bySubject = new Map<string, string>()
  for (const sentence of sentences) {
    const subject = subjectOf(sentence)
    bySubject.delete(subject)
    bySubject.set(subject, sentence.replace(/\.$/, ''))
  }
  const [first = '', ...others] = bySubject.values()
  return asSentence(listWords([first, ...others.map(withinSentence)]))
}

/** What a sentence is about, if it says so; else the whole sentence. */
function subjectOf(sentence: string): string {
  if (/\bthe volume is\b/i.test(sentence)) return 'volume'
  const [, device] = /^(\p{Lu}.*?) is (?:on|off|open|closed|dimmed to .*|\d+ % open)\.$/u.exec(sentence) ?? []
  return device ?? sentence
}

/** "It is 22 °C" as a part of a longer sentence; names keep their capitals. */
function withinSentence(sentence: string): string {
  return sentence.replace(/^(?:It|The|That|There|This|Nothing|None|Neither|Yes|No|Done)\b/, word =>
    word.toLowerCase(),
  )
}

function wordsFor(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'Done'
  if (!isObjectLike(value)) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'There is nothing' : value.map(inWords).join(', ')
  const { text, answer, result } = value as { text?: unknown; answer?: unknown; result?: unknown }
  for (const said of [text, answer]) if (typeof said === 'string' && said.trim() !== '') return said
  if (result !== undefined) return `The result is ${inWords(result)}`
  return Object.entries(value)
    .map(([name, entry]) => `${spoken(name)}: ${inWords(entry)}`)
    .join(', ')
}

function inWords(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' ? String(roundOff(value)) : textOf(value)
}

/** To a listener, 0.1 + 0.2 is 0.3. */
function roundOff(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(12))
}

/** `airTemperature` and `air_temperature` as `air temperature`. */
function spoken(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase()
}

function shortened(text: string): string {
  const line = text
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= MAX_SPOKEN_CHARS) return line
  const start = line.slice(0, MAX_SPOKEN_CHARS)
  const end = start.search(/[.!?](?=\s[^.!?]*$)/)
  return end > 0 ? start.slice(0, end + 1) : `${start.slice(0, start.lastIndexOf(' ')).trimEnd()}…`
}

function asSentence(text: string): string {
  const trimmed = text.replace(/\s+/g, ' ').trim()
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}
