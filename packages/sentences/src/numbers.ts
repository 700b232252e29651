import { keysOf, type Token } from './text.ts'

/** How a language says numbers. */
export interface NumberWords {
  words?: Record<string, number>
  ordinals?: Record<string, number>
  fractions?: Record<string, number>
  hundred?: string[]
  and?: string[]
  point?: string[]
  minus?: string[]
  /** Said before "hundred" for one. */
  a?: string[]
  /** `{unit}und{ten}`: how tens and units are written as one word. */
  compound?: string
}

export interface NumberFound {
  end: number
  value: number
  /** Said as a part of a whole: "half", "1/4", ".3". */
  isPart: boolean
}

/** Phrases and what they stand for, found by their first word. */
export class Phrases<Value> {
  readonly #byFirst = new Map<string, { keys: string[]; value: Value }[]>()

  constructor(entries: Iterable<readonly [text: string, value: Value]>) {
    for (const [text, value] of entries) {
      const keys = keysOf(text)
      const [first] = keys
      if (first === undefined) continue
      const known = this.#byFirst.get(first) ?? []
      known.push({ keys, value })
      this.#byFirst.set(first, known)
    }
  }

  /** All phrases that start at a token. */
  at(tokens: readonly Token[], pos: number): { end: number; value: Value; cost: number }[] {
    const token = tokens[pos]
    if (!token) return []
    const found: { end: number; value: Value; cost: number }[] = []
    for (const first of [token.key, ...token.corrections])
      for (const { keys, value } of this.#byFirst.get(first) ?? []) {
        const costs = keys.map((key, at) => costOf(tokens[pos + at], key))
        const cost = costs.reduce((sum, each) => sum + each, 0)
        if (cost < Infinity) found.push({ end: pos + keys.length, value, cost })
      }
    return found
  }

  *words(): Generator<string> {
    for (const entries of this.#byFirst.values()) for (const { keys } of entries) yield* keys
  }

  *phrases(): Generator<{ keys: readonly string[]; value: Value }> {
    for (const entries of this.#byFirst.values()) yield* entries
  }
}

export const CORRECTION_COST = 3

/** 0 if the token is this word, more if it may have been meant, infinite if not. */
function costOf(token: Token | undefined, key: string): number {
  if (token?.key === key) return 0
  return token?.corrections.includes(key) ? CORRECTION_COST : Infinity
}

/** Reads numbers in words or digits. */
export class NumberReader {
  readonly #words: ReadonlyMap<string, number>
  readonly #ordinals: ReadonlyMap<string, number>
  readonly #fractions: Phrases<number>
  readonly #is: (kind: 'hundred' | 'and' | 'point' | 'minus' | 'a', token: Token | undefined) => boolean
  readonly #all: readonly string[]
  readonly #hundred: string | undefined

  constructor(written: NumberWords = {}) {
    const { words = {}, ordinals = {}, fractions = {}, compound } = written
    const numbers = new Map(Object.entries(words))
    if (compound) for (const [word, value] of compounds(words, compound)) numbers.set(word, value)
    this.#words = numbers
    this.#ordinals = new Map(Object.entries(ordinals))
    this.#fractions = new Phrases(Object.entries(fractions))
    this.#is = (kind, token) => token !== undefined && (written[kind] ?? []).includes(token.key)
    this.#hundred = written.hundred?.[0]
    const { hundred = [], and = [], point = [], minus = [], a = [] } = written
    const said = [...numbers.keys(), ...Object.keys(ordinals), ...this.#fractions.words()]
    this.#all = [...said, ...hundred, ...and, ...point, ...minus, ...a]
  }

  /** All number words of the language. */
  words(): readonly string[] {
    return this.#all
  }

  /** Words for small whole numbers, for names: "one" and "first" are 1. */
  digitOf(key: string): string | undefined {
    const value = this.#words.get(key) ?? this.#ordinals.get(key)
    return value === undefined ? undefined : String(value)
  }

  /** The words for a whole number up to 100, to be spoken. */
  wordsFor(value: number): string[] | undefined {
    const of = (wanted: number) => [...this.#words].find(([, each]) => each === wanted)?.[0]
    const whole = of(value)
    if (whole !== undefined) return [whole]
    if (value === 100) return [of(1), this.#hundred].filter(word => word !== undefined)
    const [ten, unit] = [of(value - (value % 10)), of(value % 10)]
    return ten && unit && value > 20 ? [ten, unit] : undefined
  }

  /** Every number that starts at a token, longest last. */
  at(tokens: readonly Token[], pos: number): NumberFound[] {
    const first = tokens[pos]
    if (!first) return []
    if (this.#is('minus', first))
      return this.at(tokens, pos + 1).map(found => ({ ...found, value: -found.value }))
    const parts = this.#fractions.at(tokens, pos)
    const found: NumberFound[] = parts.map(({ end, value }) => ({ end, value, isPart: true }))
    if (/^\d+\/\d+$/.test(first.key)) {
      const [over = 0, under = 1] = first.key.split('/').map(Number)
      found.push({ end: pos + 1, value: over / under, isPart: over < under })
    } else if (/^\d*\.?\d+$/.test(first.key)) {
      const value = Number(first.key)
      found.push({ end: pos + 1, value, isPart: value > 0 && value < 1 })
    } else found.push(...this.#inWords(tokens, pos))
    return found.flatMap(each => [each, ...this.#andAHalf(tokens, each)])
  }

  #inWords(tokens: readonly Token[], pos: number): NumberFound[] {
    const found: NumberFound[] = []
    const add = (end: number, value: number) => {
      found.push({ end, value, isPart: false })
      if (!this.#is('point', tokens[end])) return
      let digits = ''
      let at = end + 1
      for (let next = this.#digit(tokens[at]); next !== undefined; next = this.#digit(tokens[++at]))
        digits += next
      if (digits) found.push({ end: at, value: Number(`${value}.${digits}`), isPart: false })
    }
    const small = this.#small(tokens, pos)
    for (const { end, value } of small) add(end, value)
    const times = small.length > 0 ? small : this.#is('a', tokens[pos]) ? [{ end: pos + 1, value: 1 }] : []
    for (const { end, value } of [...times, { end: pos, value: 1 }]) {
      if (!this.#is('hundred', tokens[end])) continue
      add(end + 1, value * 100)
      const rest = this.#is('and', tokens[end + 1]) ? end + 2 : end + 1
      for (const more of this.#small(tokens, rest)) add(more.end, value * 100 + more.value)
    }
    return found
  }

  /** 0 to 99 in words. */
  #small(tokens: readonly Token[], pos: number): { end: number; value: number }[] {
    const token = tokens[pos]
    const value = token && (this.#words.get(token.key) ?? this.#corrected(token))
    if (value === undefined) return []
    const unit = this.#digit(tokens[pos + 1])
    const isTens = value >= 20 && value % 10 === 0
    const whole = { end: pos + 1, value }
    return isTens && unit ? [whole, { end: pos + 2, value: value + unit }] : [whole]
  }

  #corrected({ corrections }: Token): number | undefined {
    return corrections.map(each => this.#words.get(each)).find(value => value !== undefined)
  }

  #digit(token: Token | undefined): number | undefined {
    const value =
      token && (this.#words.get(token.key) ?? (/^\d$/.test(token.key) ? Number(token.key) : undefined))
    return value !== undefined && value < 10 ? value : undefined
  }

  /** "nineteen and a half". */
  #andAHalf(tokens: readonly Token[], { end, value, isPart }: NumberFound): NumberFound[] {
    if (isPart || !this.#is('and', tokens[end])) return []
    const parts = this.#fractions.at(tokens, end + 1)
    return parts.map(more => ({ end: more.end, value: value + more.value, isPart: false }))
  }
}

function* compounds(words: Record<string, number>, pattern: string): Generator<[string, number]> {
  const units = Object.entries(words).filter(([, value]) => value > 0 && value < 10)
  const tens = Object.entries(words).filter(([, value]) => value >= 20 && value < 100 && value % 10 === 0)
  for (const [ten, tenValue] of tens)
    for (const [unit, unitValue] of units)
      yield [pattern.replace('{unit}', unit).replace('{ten}', ten), tenValue + unitValue]
}
