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
  meaning: Meaning,
  grammar: Grammar,
  run: RunCalls,
  before: Dialogue = {},
): Promise<Answered> {
  if (meaning.steps.length === 0)
    return {
      text: asSentence(meaning.text ?? ''),
      dialogue: meaning.pending ? { ...before, pending: meaning.pending } : { last: before.last },
    }
  const said: string[] = []
  const steps: Step[] = []
  for (const step of meaning.steps) {
    const answer = new StepAnswer(step, grammar, run)
    said.push(...(await answer.say()))
    steps.push(answer.found ? { ...step, devices: answer.found } : step)
  }
  return {
    text: [...new Set(said)].join(' '),
    dialogue: { last: lastOf(steps, before.last, meaning.isMore) },
  }
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
    const groups =
      isRead || this.#template() === undefined ? sure.map(each => [each]) : sure.length > 0 ? [sure] : []
    const done = groups.map(group =>
      this.#sentence(
        group.map(({ result }) => result),
        group.flatMap(({ device }) => device ?? []),
        extra,
      ),
    )
    const failed = pairs
      .filter(({ result }) => !isSure(result))
      .map(({ result }) => asSentence(shortened(this.#failure(result))))
    return [...done, ...new Set(failed)]
  }

  #failure({ success, error, text }: CallResult): string {
    if (success) return text ?? this.#grammar.error('unconfirmed', this.#values([], []))
    return this.#grammar.error('failed', { error })
  }

  #sentence(results: readonly CallResult[], devices: readonly Device[], extra: Values): string {
    const template = this.#template()
    const values = { ...this.#values(results, devices), ...extra }
    const text = template === undefined ? '' : render(template, values)
    const [first] = results
    return asSentence(shortened(text || (first ? textOf(first) : '') || this.#grammar.error('done')))
  }

  #template(): string | undefined {
    const { intent, response = 'default' } = this.#step.block
    return this.#grammar.language.responses[intent]?.[response]
  }

  #values(results: readonly CallResult[], devices: readonly Device[]): Values {
    const { language } = this.#grammar
    const { slots } = this.#step
    const first = results[0]
    const readings = (language.home?.reading ?? []).map(path => valueAt(first?.result, path))
    const state = readings.find(each => typeof each === 'string' || typeof each === 'number')
    return {
      slots,
      ...this.#names(devices),
      result: first?.result,
      text: first ? textOf(first) : '',
      state,
      as_expected: typeof slots.expect === 'string' && this.#isIn(String(state ?? ''), slots.expect),
    }
  }

  #names(devices: readonly Device[]): Values {
    const { language } = this.#grammar
    const names = devices.map(({ name, id }) =>
      devices.filter(other => other.name === name).length > 1 ? id : name,
    )
    const spoken = names.map(name => {
      const proper =
        /['’]s\b|\d$/.test(name) || language.numbers.digitOf(keysOf(name).at(-1) ?? '') !== undefined
      const written = language.home?.lowercase && !proper ? inText(name) : name
      return render(language.errors.the_name ?? '{{ name }}', { name: written, proper })
    })
    const plural =
      devices.length > 1 ||
      (devices.length === 1 && this.#grammar.home?.isPluralName(names[0] ?? '') === true)
    return {
      names: listWords(spoken, language.errors.and ?? ''),
      plural,
      count: devices.length,
      many: devices.length > MAX_NAMED,
    }
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
    const fresh = new Map(
      new Home(devicesIn(result.result, listing), home.words, { numbers: language.numbers }).devices.map(
        device => [device.id, device],
      ),
    )
    const states = devices.flatMap(device => fresh.get(device.id) ?? [])
    const wanted = [slots.state, slots.expect].find(each => typeof each === 'string')
    const found = wanted === undefined ? states : states.filter(({ state = '' }) => this.#isIn(state, wanted))
    if (found.length > 0) this.found = found
    const others = states.filter(device => !found.includes(device))
    const values = {
      slots,
      ...this.#names(found),
      total: states.length,
      others: this.#names(others),
      lists: Object(result.result) as object,
    }
    const template = this.#grammar.language.responses[this.#step.block.intent]?.several ?? this.#template()
    return [
      asSentence(
        template === undefined ? textOf(result) : render(template, { ...values, all: others.length === 0 }),
      ),
    ]
  }

  /** Reads the values, changes them by a step, and sets them. */
  async #adjusted(adjust: Adjust): Promise<string[]> {
    const { devices, slots, block } = this.#step
    const reader = this.#grammar.tool(adjust.read.tool)
    const setter = this.#grammar.tool(block.tool ?? '')
    if (!reader || !setter) return [this.#grammar.error('done')]
    const argument = this.#grammar.language.home?.argument ?? 'name'
    const targets: (Device | undefined)[] = devices.length > 0 ? [...devices] : [undefined]
    const named = (device: Device | undefined) => (device ? { [argument]: device.id } : {})
    const reads = await this.#run(
      targets.map(device => ({ tool: reader.name, args: { ...named(device), ...adjust.read.args } })),
    )
    const planned = reads.map((read, at) => {
      const value = read.success ? valueIn(read.result, adjust) : undefined
      return {
        device: targets[at],
        read,
        to: value === undefined ? undefined : changed(value, slots, adjust),
      }
    })
    const possible = planned.filter(({ to }) => to !== undefined && to >= adjust.min && to <= adjust.max)
    const refused = planned.flatMap(({ read, to }) => {
      if (!read.success) return [asSentence(this.#failure(read))]
      return to === undefined ? [this.#grammar.error('no_value')] : []
    })
    const range =
      planned.length > possible.length + refused.length
        ? [this.#grammar.error('range', { from: adjust.min, to: adjust.max })]
        : []
    if (possible.length === 0) return [...new Set([...refused, ...range])]
    const { direction: _, amount: __, size: ___, factor: ____, ...fixed } = slots
    const calls = possible.map(({ device, to }) => ({
      tool: setter.name,
      args: { ...named(device), ...this.#grammar.argsOf(setter, { ...fixed, [adjust.slot]: to }) },
    }))
    const results = await this.#run(calls)
    return [
      ...this.#told(
        results,
        possible.flatMap(({ device }) => device ?? []),
        { value: possible[0]?.to },
      ),
      ...refused,
      ...range,
    ]
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
  if (typeof result !== 'object' || result === null)
    return result === undefined || result === null ? '' : String(result)
  const {
    text: said,
    answer,
    result: inner,
  } = result as { text?: unknown; answer?: unknown; result?: unknown }
  for (const each of [said, answer, inner])
    if (typeof each === 'string' || typeof each === 'number') return String(each)
  if (Array.isArray(result)) return result.map(each => textOf({ success: true, result: each })).join(', ')
  return Object.entries(result)
    .map(
      ([name, value]) =>
        `${name.replace(/([a-z\d])([A-Z])|[_-]+/g, '$1 $2').toLowerCase()}: ${textOf({ success: true, result: value })}`,
    )
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
