import { type Device, Home } from './home.ts'
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
    const answer = new StepAnswer(step, grammar, run)
    for (const sentence of await answer.say()) said.add(asSentence(sentence))
    steps.push(answer.found ? { ...step, devices: answer.found } : step)
  }
  return { text: [...said].join(' '), dialogue: { last: lastOf(steps, before.last, isMore) } }
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
    if (block.query && calls.length === 0) return [await this.#listed()]
    if (block.adjust) return this.#adjusted(block.adjust)
    return this.#told(await this.#run(calls), devices)
  }

  /** One sentence for all that worked, and the reasons of the others. */
  #told(results: readonly CallResult[], devices: readonly Device[], value?: unknown): string[] {
    const isSure = ({ success, result }: CallResult) => success && valueAt(result, 'confirmed') !== false
    const sure = results
      .map((result, at) => ({ result, device: devices[at] }))
      .filter(each => isSure(each.result))
    const isOneByOne = this.#grammar.tool(this.#step.block.tool)?.readOnly || this.#template() === undefined
    const groups = isOneByOne ? sure.map(each => [each]) : sure.length > 0 ? [sure] : []
    const failed = results.filter(result => !isSure(result)).map(result => this.#failure(result))
    return [...groups.map(group => this.#sentence(group, value)), ...failed]
  }

  #failure({ success, error, text }: CallResult): string {
    const why = success ? text : this.#grammar.error('failed', { error })
    return shortened(why ?? this.#grammar.error('unconfirmed'))
  }

  #sentence(group: readonly { result: CallResult; device: Device | undefined }[], value: unknown): string {
    const { slots } = this.#step
    const { result = { success: true }, device } = group[0] ?? {}
    const text = textOf(result)
    const state = this.#reading(this.#readings(result.result), device)
    const as_expected = typeof slots.expect === 'string' && this.#isIn(state ?? '', slots.expect)
    const names = this.#names(group.flatMap(each => each.device ?? []))
    const about = { kind: device?.kind, state, as_expected, text, result: result.result, value }
    const said = render(this.#template() ?? '', { slots, ...names, ...about })
    return shortened(said || text || this.#grammar.error('done'))
  }

  /** Of several readings, such as "Humidity: 45 %", the one that was asked for. */
  #reading(texts: readonly string[], device: Device | undefined): string | undefined {
    const { kinds = {} } = this.#grammar.language.home ?? {}
    const wanted = this.#step.block.domain?.find(kind => device?.kinds.has(kind)) ?? ''
    const looks = kinds[wanted]?.state?.[device?.kind ?? '']
    const found = texts.find(each => looks !== undefined && new RegExp(looks, 'i').test(each)) ?? texts[0]
    return found?.replace(/^[^:]*: /, '')
  }

  #readings(result: unknown): string[] {
    const { list = '', name = '', text = '' } = this.#grammar.language.home?.reading ?? {}
    const readings = valueAt(result, list)
    if (!Array.isArray(readings)) return []
    return readings.map(each => `${valueAt(each, name) ?? ''}: ${valueAt(each, text) ?? ''}`)
  }

  #template(): string | undefined {
    const { intent, response = 'default' } = this.#step.block
    return this.#grammar.language.responses[intent]?.[response]
  }

  #names(devices: readonly Device[]): Values {
    const { language, home } = this.#grammar
    const isTwice = (name: string) => devices.filter(other => other.name === name).length > 1
    const spoken = devices.map(({ name: own, id }) => {
      const name = isTwice(own) ? id : own
      const isNumber = language.numbers.digitOf(keysOf(name).at(-1) ?? '') !== undefined
      const proper = /['’]s\b|\d$/.test(name) || isNumber
      const written = language.home?.lowercase && !proper ? inText(name) : name
      return render(language.errors.the_name ?? '{{ name }}', { name: written, proper })
    })
    const count = devices.length
    const plural = count > 1 || (count === 1 && home?.isPluralName(devices[0]?.name ?? '') === true)
    return { names: listWords(spoken, language.errors.and ?? ''), plural, count, many: count > MAX_NAMED }
  }

  #isIn(state: string, wanted: string): boolean {
    const pattern = this.#grammar.language.home?.states?.[wanted]
    return pattern !== undefined && new RegExp(pattern, 'i').test(state)
  }

  /** A question about several devices, answered from a fresh listing. */
  async #listed(): Promise<string> {
    const { slots, devices, block } = this.#step
    const { home, language } = this.#grammar
    const tool = this.#grammar.tool(language.home?.listing?.tool)
    if (!home || !tool) return this.#grammar.error('done')
    const [result = { success: false }] = await this.#run([{ tool: tool.name, args: {} }])
    if (!result.success) return this.#failure(result)
    const now = new Home(result.result, home.words, language.numbers)
    const states = devices.flatMap(({ id }) => now.device(id) ?? [])
    const wanted = slots.state ?? slots.expect
    const isWanted = (device: Device) =>
      typeof wanted !== 'string' || this.#isIn(this.#reading(device.state.split(', '), device) ?? '', wanted)
    const found = states.filter(isWanted)
    const others = states.filter(device => !isWanted(device))
    if (found.length > 0) this.found = found
    const template = language.responses[block.intent]?.several ?? this.#template()
    const counts = { total: states.length, all: others.length === 0, others: this.#names(others) }
    return template ? render(template, { slots, ...this.#names(found), ...counts }) : textOf(result)
  }

  /** Reads the values, changes them by a step, and sets them. */
  async #adjusted(adjust: Adjust): Promise<string[]> {
    const { devices, slots, block } = this.#step
    const { min, max, read, slot, value: paths } = adjust
    const [reader, setter] = [this.#grammar.tool(read.tool), this.#grammar.tool(block.tool)]
    if (!reader || !setter) return [this.#grammar.error('done')]
    const targets: (Device | undefined)[] = devices.length > 0 ? [...devices] : [undefined]
    const argument = this.#grammar.language.home?.argument ?? 'name'
    const call = (tool: string, device: Device | undefined, args: Values | undefined) => {
      return { tool, args: { ...(device && { [argument]: device.id }), ...args } }
    }
    const reads = await this.#run(targets.map(device => call(reader.name, device, read.args)))
    const refused: string[] = []
    const possible = reads.flatMap((result, at) => {
      const values = paths.map(path => valueAt(result.result, path))
      const value = values.find(each => typeof each === 'number' || typeof each === 'boolean')
      const to =
        value === undefined ? undefined : changed(value === true ? 100 : Number(value), slots, adjust)
      const isOut = typeof to === 'number' && (to < min || to > max)
      if (result.success && to !== undefined && !isOut) return [{ device: targets[at], to }]
      const why = isOut ? 'range' : 'no_value'
      refused.push(result.success ? this.#grammar.error(why, { from: min, to: max }) : this.#failure(result))
      return []
    })
    const settings = (to: unknown) => this.#grammar.argsOf(setter, { ...slots, [slot]: to })
    const calls = possible.map(({ device, to }) => call(setter.name, device, settings(to)))
    const results = calls.length > 0 ? await this.#run(calls) : []
    const set = possible.flatMap(({ device }) => device ?? [])
    return [...this.#told(results, set, possible[0]?.to), ...refused]
  }
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

/** A result as words: the tool's own text if it gave one. */
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

/** "Desk Lamp" within a sentence is "desk lamp"; "IKEA" and "Anna's" stay. */
function inText(name: string): string {
  return name.replace(/\p{Lu}\p{Ll}+(?!['’\p{Lu}\d])\b/gu, word => word.toLowerCase())
}

function shortened(text: string): string {
  const line = text.replace(/\*\*|`/g, '').replace(/\s+/g, ' ')
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
