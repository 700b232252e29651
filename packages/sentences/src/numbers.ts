import { keysOf, type Token } from './text.ts'

type Values = Partial<Record<'words' | 'ordinals' | 'fractions', Record<string, number>>>
/** `a` is said before "hundred" for one. */
export type NumberWords = Values & Partial<Record<'hundred' | 'and' | 'point' | 'minus' | 'a', string[]>>
/** `isPart`: said as a part of a whole: "half", "1/4", ".3". */
type NumberFound = { end: number; value: number; isPart: boolean }

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

  at(tokens: readonly Token[], pos: number): { end: number; value: Value; cost: number }[] {
    const token = tokens[pos]
    if (!token) return []
    return [token.key, ...token.corrections].flatMap(first =>
      (this.#byFirst.get(first) ?? []).flatMap(({ keys, value }) => {
        const costOf = (token: Token | undefined, key: string) =>
          token?.key === key ? 0 : token?.corrections.includes(key) ? CORRECTION_COST : Infinity
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

export class NumberReader {
  readonly #words: ReadonlyMap<string, number>
  readonly #fractions: Phrases<number>
  readonly #written: NumberWords

  constructor(written: NumberWords = {}) {
    const { words = {}, fractions = {} } = written
    this.#words = new Map(Object.entries(words))
    this.#fractions = new Phrases(Object.entries(fractions))
    this.#written = written
  }

  words(): string[] {
    const { ordinals = {}, hundred = [], and = [], point = [], minus = [], a = [] } = this.#written
    const said = [...this.#words.keys(), ...Object.keys(ordinals), ...this.#fractions.words()]
    return [...said, ...hundred, ...and, ...point, ...minus, ...a]
  }

  /** "one" and "first" are 1 in names. */
  digitOf(key: string): string | undefined {
    return (this.#words.get(key) ?? this.#written.ordinals?.[key])?.toString()
  }

  at(tokens: readonly Token[], pos: number): NumberFound[] {
    if (this.#is('minus', tokens[pos]))
      return this.at(tokens, pos + 1).map(found => ({ ...found, value: -found.value }))
    const key = tokens[pos]?.key ?? ''
    const digits = { end: pos + 1, value: Number(key), isPart: /^0?\./.test(key) }
    const whole = /^\d*\.?\d+$/.test(key) ? [digits] : this.#inWords(tokens, pos)
    const andAHalf = whole
      .filter(({ end }) => this.#is('and', tokens[end]))
      .flatMap(({ end, value }) => {
        const parts = this.#partsAt(tokens, end + 1)
        return parts.map(part => ({ end: part.end, value: value + part.value, isPart: false }))
      })
    return [...this.#partsAt(tokens, pos), ...whole, ...andAHalf]
  }

  /** "half", "a quarter", "3/4", "a 1/2". */
  #partsAt(tokens: readonly Token[], pos: number): NumberFound[] {
    const at = this.#is('a', tokens[pos]) ? pos + 1 : pos
    const [, over, under] = /^(\d+)\/(\d+)$/.exec(tokens[at]?.key ?? '') ?? []
    const value = Number(over) / Number(under)
    const written = over === undefined ? [] : [{ end: at + 1, value, isPart: value < 1 }]
    const said = this.#fractions.at(tokens, pos)
    return [...said.map(part => ({ end: part.end, value: part.value, isPart: true })), ...written]
  }

  /** "a hundred and twenty one point five": also what begins it. */
  #inWords(tokens: readonly Token[], pos: number): NumberFound[] {
    const found: NumberFound[] = []
    const isOne = this.#is('a', tokens[pos]) && this.#is('hundred', tokens[pos + 1])
    let value = isOne ? 1 : 0
    let below = isOne ? 0 : 100 // The next word has to be less
    for (let at = isOne ? pos + 1 : pos; at < tokens.length; at++) {
      const { key, corrections } = tokens[at] as Token
      const word = [key, ...corrections].map(each => this.#words.get(each)).find(each => each !== undefined)
      if (this.#is('hundred', tokens[at]) && value < 10) [value, below] = [(value || 1) * 100, 100]
      else if (word !== undefined && word < below)
        [value, below] = [value + word, word >= 20 && word % 10 === 0 ? 10 : 0]
      else if (this.#is('and', tokens[at]) && value >= 100 && below === 100) continue
      else break
      found.push({ end: at + 1, value, isPart: false }, ...this.#decimals(tokens, at + 1, value))
    }
    return found
  }

  #decimals(tokens: readonly Token[], pos: number, value: number): NumberFound[] {
    const digits: string[] = []
    const digitAt = (at: number) => this.digitOf(tokens[at]?.key ?? '') ?? tokens[at]?.key ?? ''
    if (this.#is('point', tokens[pos]))
      for (let at = pos + 1; /^\d$/.test(digitAt(at)); at++) digits.push(digitAt(at))
    const end = pos + 1 + digits.length
    return digits.length > 0 ? [{ end, value: Number(`${value}.${digits.join('')}`), isPart: false }] : []
  }

  #is(kind: 'hundred' | 'and' | 'point' | 'minus' | 'a', token: Token | undefined): boolean {
    return token !== undefined && this.#written[kind]?.includes(token.key) === true
  }
}
