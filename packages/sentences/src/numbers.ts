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

interface NumberFound {
  end: number
  value: number
  /** Said as a part of a whole: "half", "1/4", ".3". */
  isPart: boolean
}

export const CORRECTION_COST = 3

/** Phrases and what they stand for, found by their first word. */
export class Phrases<Value> {
  readonly #byFirst = new Map<string, { keys: string[]; value: Value }[]>()

  constructor(entries: Iterable<readonly [text: string, value: Value]>) {
    for (const [text, value] of entries) {
      const keys = keysOf(text)
      const [first] = keys
      if (first !== undefined)
        this.#byFirst.set(first, [...(this.#byFirst.get(first) ?? []), { keys, value }])
    }
  }

  /** All phrases that start at a token. */
  at(tokens: readonly Token[], pos: number): { end: number; value: Value; cost: number }[] {
    const token = tokens[pos]
    if (!token) return []
    return [token.key, ...token.corrections].flatMap(first =>
      (this.#byFirst.get(first) ?? []).flatMap(({ keys, value }) => {
        const cost = keys.reduce((sum, key, at) => sum + costOf(tokens[pos + at], key), 0)
        return cost < Infinity ? [{ end: pos + keys.length, value, cost }] : []
      }),
    )
  }

  *phrases(): Generator<readonly string[]> {
    for (const entries of this.#byFirst.values()) for (const { keys } of entries) yield keys
  }

  words(): string[] {
    return [...this.phrases()].flat()
  }
}

/** 0 if the token is this word, more if it may have been meant, infinite if not. */
function costOf(token: Token | undefined, key: string): number {
  if (token?.key === key) return 0
  return token?.corrections.includes(key) ? CORRECTION_COST : Infinity
}

/** Reads numbers in words or digits. */
export class NumberReader {
  readonly #words: ReadonlyMap<string, number>
  readonly #ordinals: Readonly<Record<string, number>>
  readonly #fractions: Phrases<number>
  readonly #written: NumberWords

  constructor(written: NumberWords = {}) {
    const { words = {}, ordinals = {}, fractions = {}, compound } = written
    const all = Object.entries(words)
    const tens = all.filter(([, value]) => value >= 20 && value < 100 && value % 10 === 0)
    const units = all.filter(([, value]) => value > 0 && value < 10)
    const joined = (compound ? tens : []).flatMap(([ten, value]) =>
      units.map(([unit, more]): [string, number] => {
        return [compound?.replace('{unit}', unit).replace('{ten}', ten) ?? '', value + more]
      }),
    )
    this.#words = new Map([...all, ...joined])
    this.#ordinals = ordinals
    this.#fractions = new Phrases(Object.entries(fractions))
    this.#written = written
  }

  /** All number words of the language. */
  words(): string[] {
    const { hundred = [], and = [], point = [], minus = [], a = [] } = this.#written
    const said = [...this.#words.keys(), ...Object.keys(this.#ordinals), ...this.#fractions.words()]
    return [...said, ...hundred, ...and, ...point, ...minus, ...a]
  }

  /** "one" and "first" are 1 in names. */
  digitOf(key: string): string | undefined {
    return (this.#words.get(key) ?? this.#ordinals[key])?.toString()
  }

  /** The words for a whole number up to 100, to be spoken. */
  wordsFor(value: number): string[] | undefined {
    const of = (wanted: number) => [...this.#words].find(([, each]) => each === wanted)?.[0]
    const whole = of(value)
    const [ten, unit] =
      value === 100 ? [of(1), this.#written.hundred?.[0]] : [of(value - (value % 10)), of(value % 10)]
    return whole ? [whole] : ten && unit ? [ten, unit] : undefined
  }

  /** Every number that starts at a token. */
  at(tokens: readonly Token[], pos: number): NumberFound[] {
    const first = tokens[pos]
    if (!first) return []
    if (this.#is('minus', first))
      return this.at(tokens, pos + 1).map(found => ({ ...found, value: -found.value }))
    const found = this.#partsAt(tokens, pos)
    if (/^\d*\.?\d+$/.test(first.key)) {
      const value = Number(first.key)
      found.push({ end: pos + 1, value, isPart: value > 0 && value < 1 })
    } else found.push(...this.#inWords(tokens, pos))
    return found.flatMap(each => {
      const rest =
        each.isPart || !this.#is('and', tokens[each.end]) ? [] : this.#partsAt(tokens, each.end + 1)
      return [each, ...rest.map(({ end, value }) => ({ end, value: each.value + value, isPart: false }))]
    })
  }

  /** "half", "a quarter", "3/4", "a 1/2". */
  #partsAt(tokens: readonly Token[], pos: number): NumberFound[] {
    const at = this.#is('a', tokens[pos]) ? pos + 1 : pos
    const [, over, under] = /^(\d+)\/(\d+)$/.exec(tokens[at]?.key ?? '') ?? []
    const value = Number(over) / Number(under)
    const written = over === undefined ? [] : [{ end: at + 1, value, isPart: value < 1 }]
    const said = this.#fractions.at(tokens, pos)
    return [...said.map(({ end, value: part }) => ({ end, value: part, isPart: true })), ...written]
  }

  #inWords(tokens: readonly Token[], pos: number): NumberFound[] {
    const small = this.#small(tokens, pos)
    const times = this.#is('a', tokens[pos]) ? [{ end: pos + 1, value: 1 }] : small
    const hundreds = [...times, { end: pos, value: 1 }]
      .filter(({ end }) => this.#is('hundred', tokens[end]))
      .flatMap(({ end, value }) => {
        const rest = this.#small(tokens, this.#is('and', tokens[end + 1]) ? end + 2 : end + 1)
        const whole = { end: end + 1, value: value * 100 }
        return [whole, ...rest.map(more => ({ end: more.end, value: value * 100 + more.value }))]
      })
    return [...small, ...hundreds].flatMap(({ end, value }) => {
      let digits = ''
      let at = end + 1
      if (this.#is('point', tokens[end]))
        for (let next = this.#digit(tokens[at]); next !== undefined; next = this.#digit(tokens[++at]))
          digits += next
      const decimal = { end: at, value: Number(`${value}.${digits}`), isPart: false }
      return [{ end, value, isPart: false }, ...(digits ? [decimal] : [])]
    })
  }

  /** 0 to 99 in words. */
  #small(tokens: readonly Token[], pos: number): { end: number; value: number }[] {
    const { key = '', corrections = [] } = tokens[pos] ?? {}
    const value = [key, ...corrections].map(each => this.#words.get(each)).find(each => each !== undefined)
    if (value === undefined) return []
    const unit = this.#digit(tokens[pos + 1])
    const whole = { end: pos + 1, value }
    const isTens = value >= 20 && value % 10 === 0
    return isTens && unit ? [whole, { end: pos + 2, value: value + unit }] : [whole]
  }

  #digit(token: Token | undefined): number | undefined {
    const key = token?.key ?? ''
    const value = this.#words.get(key) ?? (/^\d$/.test(key) ? Number(key) : undefined)
    return value !== undefined && value < 10 ? value : undefined
  }

  #is(kind: 'hundred' | 'and' | 'point' | 'minus' | 'a', token: Token | undefined): boolean {
    return token !== undefined && this.#written[kind]?.includes(token.key) === true
  }
}
