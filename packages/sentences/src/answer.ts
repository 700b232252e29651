import { type Device, Home } from './home.ts'
import type { Adjust } from './language.ts'
import { devicesIn } from './listing.ts'
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

/** What a call returned. */
export interface CallResult {
  success: boolean
  result?: unknown
  /** The result as text, if the tool gave one. */
  text?: string | undefined
  error?: string | undefined
}

/** Runs calls at the same time, and returns their results in order. */
export type RunCalls = (calls: readonly PlannedCall[]) => Promise<readonly CallResult[]>

export interface Answered {
  text: string
  dialogue: Dialogue
}

const MAX_NAMED = 4
const MAX_SPOKEN_CHARS = 300

/** Does what was understood and says what happened. */
export async function carryOut(
  { steps: planned, text = '', pending, isMore }: Meaning,
  grammar: Grammar,
  run: RunCalls,
  before: Dialogue = {},
): Promise<Answered> {
  if (planned.length === 0)
    return { text: asSentence(text), dialogue: pending ? { ...before, pending } : { last: before.last } }
  const said: string[] = []
  const steps: Step[] = []
  for (const step of planned) {
    const answer = new StepAnswer(step, grammar, run)
    said.push(...(await answer.say()))
    steps.push(answer.found ? { ...step, devices: answer.found } : step)
  }
  return { text: [...new Set(said)].join(' '), dialogue: { last: lastOf(steps, before.last, isMore) } }
}

class StepAnswer {
  readonly #step: Step
  readonly #grammar: Grammar
  readonly #run: RunCalls
  /** The devices that a question about several found. */
  found: readonly Device[] | undefined

  constructor(step: Step, grammar: Grammar, run: RunCalls) {
    this.#step = step
    this.#grammar = grammar
    this.#run = run
  }

  async say(): Promise<string[]> {
    const { block, devices, calls } = this.#step
    if (block.query && calls.length === 0) return this.#listed()
    if (block.adjust) return this.#adjusted(block.adjust)
    return this.#told(await this.#run(calls), devices)
  }

  /** One sentence for all that worked, and the reasons of the others. */
  #told(results: readonly CallResult[], devices: readonly Device[], extra: Values = {}): string[] {
    const { block } = this.#step
    const isRead = this.#grammar.tool(block.tool ?? '')?.readOnly === true
    const isSure = ({ success, result }: CallResult) => success && valueAt(result, 'confirmed') !== false
    const pairs = results.map((result, at) => ({ result, device: devices[at] }))
    const sure = pairs.filter(({ result }) => isSure(result))
    const isOneByOne = isRead || this.#template() === undefined
    const groups = isOneByOne ? sure.map(each => [each]) : sure.length > 0 ? [sure] : []
    const done = groups.map(group => this.#sentence(group, extra))
    const failed = results
      .filter(result => !isSure(result))
      .map(result => asSentence(shortened(this.#failure(result))))
    return [...done, ...new Set(failed)]
  }

  #failure({ success, error, text }: CallResult): string {
    if (success) return text ?? this.#grammar.error('unconfirmed')
    return this.#grammar.error('failed', { error })
  }

  #sentence(group: readonly { result: CallResult; device: Device | undefined }[], extra: Values): string {
    const { language } = this.#grammar
    const { slots } = this.#step
    const [first] = group
    const text = first ? textOf(first.result) : ''
    const readings = (language.home?.reading ?? []).map(path => valueAt(first?.result.result, path))
    const state = readings.find(each => typeof each === 'string' || typeof each === 'number')
    const as_expected = typeof slots.expect === 'string' && this.#isIn(String(state ?? ''), slots.expect)
    const names = this.#names(group.flatMap(({ device }) => device ?? []))
    const values = { slots, ...names, result: first?.result.result, text, state, as_expected, ...extra }
    return asSentence(
      shortened(render(this.#template() ?? '', values) || text || this.#grammar.error('done')),
    )
  }

  #template(): string | undefined {
    const { intent, response = 'default' } = this.#step.block
    return this.#grammar.language.responses[intent]?.[response]
  }

  #names(devices: readonly Device[]): Values {
    const { language } = this.#grammar
    const isTwice = (name: string) => devices.filter(other => other.name === name).length > 1
    const spoken = devices.map(({ name: own, id }) => {
      const name = isTwice(own) ? id : own
      const proper =
        /['’]s\b|\d$/.test(name) || language.numbers.digitOf(keysOf(name).at(-1) ?? '') !== undefined
      const written = language.home?.lowercase && !proper ? inText(name) : name
      return render(language.errors.the_name ?? '{{ name }}', { name: written, proper })
    })
    const count = devices.length
    const plural =
      count > 1 || (count === 1 && this.#grammar.home?.isPluralName(devices[0]?.name ?? '') === true)
    return { names: listWords(spoken, language.errors.and ?? ''), plural, count, many: count > MAX_NAMED }
  }

  #isIn(state: string, wanted: string): boolean {
    const pattern = this.#grammar.language.home?.states?.[wanted]
    return pattern !== undefined && new RegExp(pattern, 'i').test(state)
  }

  /** A question about several devices, answered from a fresh listing. */
  async #listed(): Promise<string[]> {
    const { slots, devices } = this.#step
    const { home, language } = this.#grammar
    const listing = language.home?.listing
    const tool = listing && this.#grammar.tool(listing.tool)
    if (!home || !listing || !tool) return [this.#grammar.error('done')]
    const [result] = await this.#run([{ tool: tool.name, args: {} }])
    if (!result?.success) return [asSentence(this.#failure(result ?? { success: false }))]
    const listed = new Home(devicesIn(result.result, listing), home.words, { numbers: language.numbers })
    const states = devices.flatMap(({ id }) => listed.device(id) ?? [])
    const wanted = [slots.state, slots.expect].find(each => typeof each === 'string')
    const found = wanted === undefined ? states : states.filter(({ state = '' }) => this.#isIn(state, wanted))
    if (found.length > 0) this.found = found
    const others = states.filter(device => !found.includes(device))
    const { intent } = this.#step.block
    const template = language.responses[intent]?.several ?? this.#template()
    const counts = { total: states.length, all: others.length === 0, others: this.#names(others) }
    return [
      asSentence(template ? render(template, { slots, ...this.#names(found), ...counts }) : textOf(result)),
    ]
  }

  /** Reads the values, changes them by a step, and sets them. */
  async #adjusted(adjust: Adjust): Promise<string[]> {
    const { devices, slots, block } = this.#step
    const { language } = this.#grammar
    const [reader, setter] = [this.#grammar.tool(adjust.read.tool), this.#grammar.tool(block.tool ?? '')]
    if (!reader || !setter) return [this.#grammar.error('done')]
    const targets: (Device | undefined)[] = devices.length > 0 ? [...devices] : [undefined]
    const call = (tool: ToolInfo, device: Device | undefined, args: object) => ({
      tool: tool.name,
      args: { ...(device && { [language.home?.argument ?? 'name']: device.id }), ...args },
    })
    const reads = await this.#run(targets.map(device => call(reader, device, adjust.read.args ?? {})))
    const refused: string[] = []
    const possible = reads.flatMap((read, at) => {
      const value = read.success ? valueIn(read.result, adjust) : undefined
      const to = value === undefined ? undefined : changed(value, slots, adjust)
      if (to !== undefined && to >= adjust.min && to <= adjust.max) return [{ device: targets[at], to }]
      const { min: from, max } = adjust
      const why =
        to === undefined ? this.#grammar.error('no_value') : this.#grammar.error('range', { from, to: max })
      refused.push(read.success ? why : asSentence(this.#failure(read)))
      return []
    })
    const settings = (to: number) => this.#grammar.argsOf(setter, { ...slots, [adjust.slot]: to })
    const results = await this.#run(possible.map(({ device, to }) => call(setter, device, settings(to))))
    const set = possible.flatMap(({ device }) => device ?? [])
    return [...this.#told(results, set, { value: possible[0]?.to }), ...new Set(refused)]
  }
}

function valueIn(result: unknown, { value: paths }: Adjust): number | undefined {
  for (const path of paths) {
    const value = valueAt(result, path)
    if (typeof value === 'number') return value
    if (typeof value === 'boolean') return value ? 100 : 0
  }
  return undefined
}

/** Where a step leads. Within the range it stops at the end of it; what was asked for in numbers may lead beyond. */
function changed(value: number, slots: Readonly<Record<string, unknown>>, adjust: Adjust): number {
  const { min, max, step, small, large } = adjust
  const { factor, amount, size, direction } = slots
  const clamp = (to: number) => Math.round(Math.min(max, Math.max(min, to)) * 100) / 100
  if (typeof factor === 'number') return clamp(value === 0 && factor > 1 ? step : value * factor)
  const by = typeof amount === 'number' ? amount : size === 'small' ? small : size === 'large' ? large : step
  const to = direction === 'down' ? value - by : value + by
  if (typeof amount === 'number' && max - min < 100) return Math.round(to * 100) / 100
  return direction === 'down' && typeof amount !== 'number' && to <= min && value > min
    ? clamp(min + (value - min) / 2)
    : clamp(to)
}

/** A result as words: the tool's own text if it gave one. */
function textOf({ text, result }: CallResult): string {
  if (text !== undefined && text.trim() !== '') return text
  if (typeof result !== 'object' || result === null) return String(result ?? '')
  const fields = result as Record<string, unknown>
  const said = [fields.text, fields.answer, fields.result].find(
    each => typeof each === 'string' || typeof each === 'number',
  )
  if (said !== undefined) return String(said)
  const inner = (value: unknown) => textOf({ success: true, result: value })
  if (Array.isArray(result)) return result.map(inner).join(', ')
  const spaced = (name: string) => name.replace(/([a-z\d])([A-Z])|[_-]+/g, '$1 $2').toLowerCase()
  return Object.entries(fields)
    .map(([name, value]) => `${spaced(name)}: ${inner(value)}`)
    .join(', ')
}

/** "Desk Lamp" within a sentence is "desk lamp"; "IKEA" and "Anna's" stay. */
function inText(name: string): string {
  return name.replace(/\p{Lu}\p{Ll}+(?!['’\p{Lu}\d])\b/gu, word => word.toLowerCase())
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
  if (trimmed === '') return ''
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}
