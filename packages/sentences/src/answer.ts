import { type Device, Home, type HomeWords } from './home.ts'
import type { Adjust } from './language.ts'
import { render, type Values, valueAt } from './response.ts'
import { keysOf, listWords } from './text.ts'
import {
  type Dialogue,
  type Grammar,
  lastOf,
  type Meaning,
  type PlannedCall,
  type Step,
  type ToolInfo,
} from './understand.ts'

export interface CallResult {
  success: boolean
  result?: unknown
  text?: string | undefined // The result as text, if the tool gave one
  error?: string | undefined
}

/** Runs calls at the same time, and returns their results in order. */
export type RunCalls = (calls: readonly PlannedCall[]) => Promise<readonly CallResult[]>

export type Answered = { text: string; dialogue: Dialogue }

const MAX_NAMED = 4
const MAX_SPOKEN_CHARS = 300

/** Does what was understood and says what happened. */
export async function carryOut(
  { steps: planned, text = '', pending, named: it, isMore }: Meaning,
  grammar: Grammar,
  run: RunCalls,
  before: Dialogue = {},
): Promise<Answered> {
  if (planned.length === 0) {
    const last = it ? { steps: [], it, them: it } : before.last
    return { text: asSentence(text), dialogue: { last, ...(pending && { pending }) } }
  }
  const said = new Set<string>()
  const steps: Step[] = []
  for (const step of planned) {
    const { sentences, found = step.devices } = await answerStep(step, grammar, run)
    for (const sentence of sentences) said.add(asSentence(shortened(sentence)))
    steps.push({ ...step, devices: found })
  }
  return { text: [...said].join(' '), dialogue: { last: lastOf(steps, before.last, isMore) } }
}

/** What is said of a step, and the devices that a question about several found. */
async function answerStep(
  { block, slots, devices, calls }: Step,
  grammar: Grammar,
  run: RunCalls,
): Promise<{ sentences: string[]; found?: readonly Device[] }> {
  const { language, home } = grammar
  const { reading, kinds = {}, states = {}, lowercase, listing, argument = 'name' } = language.home ?? {}
  const { [block.response ?? 'default']: template, several } = language.responses[block.intent] ?? {}

  const failure = ({ success, error, text }: CallResult) =>
    success ? (text ?? grammar.error('unconfirmed')) : grammar.error('failed', { error })

  /** Of several readings, such as "Humidity: 45 %", the one that was asked for: by its name, or by kind. */
  const readingIn = (texts: readonly string[], device: Device | undefined) => {
    const wanted = block.domain?.find(kind => device?.kinds.has(kind)) ?? ''
    const looks = slots.measure ?? kinds[wanted]?.state?.[device?.kind ?? '']
    const found = texts.find(each => looks !== undefined && new RegExp(String(looks), 'i').test(each))
    const first = slots.measure === undefined || texts.length === 1 ? texts[0] : undefined
    return (found ?? first)?.replace(/^[^:]*: /, '') ?? ''
  }
  const isIn = (state: string, wanted: unknown) => {
    const pattern = states[String(wanted)]
    return pattern !== undefined && new RegExp(pattern, 'i').test(state)
  }
  const namesOf = (named: readonly Device[]): Values => {
    const spoken = named.map(({ name: own, id }) => {
      const name = named.filter(other => other.name === own).length > 1 ? id : own
      const isNumber = language.numbers.digitOf(keysOf(name).at(-1) ?? '') !== undefined
      const proper = /['’]s\b|\d$/.test(name) || isNumber
      // "Desk Lamp" within a sentence is "desk lamp"; "IKEA" and "Anna's" stay.
      const inText = name.replace(/\p{Lu}\p{Ll}+(?!['’\p{Lu}\d])\b/gu, word => word.toLowerCase())
      const written = lowercase && !proper ? inText : name
      return render(language.errors.the_name ?? '{{ name }}', { name: written, proper })
    })
    const count = named.length
    const plural = count > 1 || (count === 1 && home?.isPlural(named[0]?.name ?? '') === true)
    return { names: listWords(spoken, language.errors.and ?? ''), plural, count, many: count > MAX_NAMED }
  }

  /** One sentence for all that worked, and the reasons of the others. */
  const told = (results: readonly CallResult[], about: readonly Device[], value?: unknown): string[] => {
    const isSure = ({ success, result }: CallResult) => success && valueAt(result, 'confirmed') !== false
    const sure = results.flatMap((result, at) => (isSure(result) ? [{ result, device: about[at] }] : []))
    const isOneByOne = grammar.tools.get(block.tool ?? '')?.readOnly || template === undefined
    const groups = isOneByOne ? sure.map(each => [each]) : [sure].filter(each => each.length > 0)
    const sentences = groups.map(group => {
      const { result = { success: true }, device } = group[0] ?? {}
      const list = reading && valueAt(result.result, reading.list)
      const texts = (Array.isArray(list) ? list : []).map(each => {
        return `${valueAt(each, reading?.name ?? '') ?? ''}: ${valueAt(each, reading?.text ?? '') ?? ''}`
      })
      const [state, text] = [readingIn(texts, device), textOf(result)]
      const names = namesOf(group.flatMap(each => each.device ?? []))
      const as_expected = isIn(state, slots.expect)
      const known = { kind: device?.kind, state, as_expected, text, result: result.result, value }
      return render(template ?? '', { slots, ...names, ...known }) || text || grammar.error('done')
    })
    return [...sentences, ...results.filter(result => !isSure(result)).map(failure)]
  }

  /** A question about several devices, answered from a fresh listing. */
  const listed = async (tool: ToolInfo, words: HomeWords) => {
    const [result = { success: false }] = await run([{ tool: tool.name, args: {} }])
    if (!result.success) return { sentences: [failure(result)] }
    const now = new Home(result.result, words, language.numbers)
    const states = devices.flatMap(({ id }) => now.byId.get(id) ?? [])
    const wanted = slots.state ?? slots.expect
    const isWanted = (device: Device) =>
      wanted === undefined || isIn(readingIn(device.state.split(', '), device), wanted)
    const found = states.filter(isWanted)
    const others = states.filter(device => !isWanted(device))
    const counts = { total: states.length, all: others.length === 0, others: namesOf(others) }
    const said = several ?? template
    const text = said ? render(said, { slots, ...namesOf(found), ...counts }) : textOf(result)
    return { sentences: [text], ...(found.length > 0 && { found }) }
  }

  /** Reads the values, changes them by a step, and sets them. */
  const adjusted = async (adjust: Adjust, reader: ToolInfo, setter: ToolInfo): Promise<string[]> => {
    const { read, slot, min, max } = adjust
    const targets: (Device | undefined)[] = devices.length > 0 ? [...devices] : [undefined]
    const call = (tool: ToolInfo, device: Device | undefined, args: Values | undefined) => {
      return { tool: tool.name, args: { ...(device && { [argument]: device.id }), ...args } }
    }
    const refused: string[] = []
    const byValue = new Map<unknown, typeof targets>()
    for (const [at, result] of (await run(targets.map(each => call(reader, each, read.args)))).entries()) {
      const device = targets[at]
      const { from, to } = home?.rangeOf(device, slot) ?? { from: min, to: max }
      const values = adjust.value.map(path => valueAt(result.result, path))
      const now = values.find(each => typeof each === 'number' || typeof each === 'boolean')
      const limited = { ...adjust, min: from, max: to }
      const value = now === undefined ? undefined : changed(now === true ? 100 : Number(now), slots, limited)
      const isOut = typeof value === 'number' && (value < from || value > to)
      if (!result.success) refused.push(failure(result))
      else if (value === undefined || isOut)
        refused.push(grammar.error(isOut ? 'range' : 'no_value', { from, to }))
      else byValue.set(value, [...(byValue.get(value) ?? []), device])
    }
    const set = [...byValue].map(async ([value, alike]) => {
      const args = grammar.argsOf(setter, { ...slots, [slot]: value })
      const about = alike.flatMap(each => each ?? [])
      return told(await run(alike.map(each => call(setter, each, args))), about, value)
    })
    return [...(await Promise.all(set)).flat(), ...refused]
  }

  const lister = grammar.tools.get(listing?.tool ?? '')
  if (block.query && calls.length === 0 && lister && home) return listed(lister, home.words)
  const reader = grammar.tools.get(block.adjust?.read.tool ?? '')
  const setter = grammar.tools.get(block.tool ?? '')
  if (block.adjust && reader && setter) return { sentences: await adjusted(block.adjust, reader, setter) }
  return { sentences: told(await run(calls), devices) }
}

/** Where a step leads. Within the range it stops at the end of it; what was asked for in numbers may lead beyond. */
function changed(value: number, slots: Values, adjust: Adjust): unknown {
  const { min, max, step, small, large, toggle } = adjust
  const { factor, amount, size, direction } = slots
  if (toggle) return value > 0 ? toggle[0] : toggle[1]
  const clamp = (to: number) => Math.round(Math.min(max, Math.max(min, to)) * 100) / 100
  if (typeof factor === 'number') return clamp(value === 0 && factor > 1 ? step : value * factor)
  const by = typeof amount === 'number' ? amount : size === 'small' ? small : size === 'large' ? large : step
  const to = direction === 'down' ? value - by : value + by
  if (typeof amount === 'number') return max - min < 100 ? Math.round(to * 100) / 100 : clamp(to)
  return direction === 'down' && to <= min && value > min ? clamp(min + (value - min) / 2) : clamp(to)
}

function textOf({ text, result }: CallResult): string {
  if (text !== undefined && text.trim() !== '') return text
  if (typeof result !== 'object' || result === null) return String(result ?? '')
  const fields = result as Record<string, unknown>
  const isPlain = (each: unknown) => typeof each === 'string' || typeof each === 'number'
  const said = [fields.text, fields.answer, fields.result].find(isPlain)
  if (said !== undefined) return String(said)
  const inner = (value: unknown) => textOf({ success: true, result: value })
  if (Array.isArray(result)) return result.map(inner).join(', ')
  const spaced = (name: string) => name.replace(/([a-z\d])([A-Z])|[_-]+/g, '$1 $2').toLowerCase()
  const parts = Object.entries(fields).map(([name, value]) => `${spaced(name)}: ${inner(value)}`)
  return parts.join(', ')
}

function shortened(text: string): string {
  const line = text.trim().replace(/\*\*|`|\s+(?=\s)/g, '')
  if (line.length <= MAX_SPOKEN_CHARS) return line
  const start = line.slice(0, MAX_SPOKEN_CHARS)
  const end = start.search(/[.!?](?=\s[^.!?]*$)/)
  return end > 0 ? start.slice(0, end + 1) : `${start.slice(0, start.lastIndexOf(' ')).trimEnd()}…`
}

function asSentence(text: string): string {
  const trimmed = text.replace(/\s+/g, ' ').trim()
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return trimmed === '' || /[.!?…]$/.test(capital) ? capital : `${capital}.`
}
