import { isAnnouncement } from './announcement.ts'
import { MAX_SALVAGE_CHARS } from './find-call.ts'

export const THINK = '<think>'
export const THOUGHT = '</think>'

const OPENINGS =
  '<tool_call> <function= <|python_tag|> [TOOL_CALLS] { [ print( default_api. functions. tools.'
/** Only at the very start. */
const OPENINGS_AT_START = ['```', THINK]
/** Longer than any announcement. */
const REMEMBERED_CHARS = 400

/**
 * Passes tokens on, but holds back what may be the beginning of a call: once spoken, it cannot be taken back. The held
 * text is bounded; anything longer is not a call.
 */
export class HeldTokens {
  readonly #speak: (token: string) => void
  readonly #openings: readonly string[]
  #held = ''
  /** The beginning of what was passed on; it may announce a call. */
  #spoken = ''
  #isLineStart = true
  /** The held text definitely begins like a call. */
  #isSure = false
  #isThinking = false

  constructor(speak: (token: string) => void, names: readonly string[]) {
    this.#speak = speak
    this.#openings = [...OPENINGS.split(' '), ...names.flatMap(name => [`${name}(`, `${name}.call(`])]
  }

  add(token: string): void {
    this.#held += token
    if (this.#held.length > MAX_SALVAGE_CHARS) return this.#pass(this.#held.length)
    if (this.#isThinking) return token.includes('>') ? this.#passThoughts() : undefined
    while (!this.#isSure && this.#held !== '') {
      if (this.#isLineStart) this.#passBlanks()
      if (this.#mayBegin()) return
      const lineEnd = this.#held.indexOf('\n')
      this.#pass(lineEnd < 0 ? this.#held.length : lineEnd + 1)
    }
  }

  /** The text is over: passes on what was held, unless it was a call. */
  end(isCall: boolean): void {
    if (isCall) this.#held = ''
    this.#pass(this.#held.length)
  }

  #pass(length: number): void {
    const passed = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    this.#isSure = false
    if (passed === '') return
    this.#isLineStart = passed.endsWith('\n')
    if (this.#spoken.length < REMEMBERED_CHARS) this.#spoken += passed
    this.#speak(passed)
  }

  /** Passes on the thinking once it ends; what follows counts as the beginning of the text. */
  #passThoughts(): void {
    const end = this.#held.indexOf(THOUGHT)
    if (end < 0) return
    this.#isThinking = false
    this.#pass(end + THOUGHT.length)
    this.#spoken = ''
    this.#isLineStart = true
    this.add('')
  }

  /** Leading whitespace of a line means nothing. */
  #passBlanks(): void {
    this.#pass(this.#held.length - this.#held.trimStart().length)
    this.#isLineStart = true
  }

  #mayBegin(): boolean {
    const start = this.#held
    if (start === '' || !this.#isLineStart || !isAnnouncement(this.#spoken)) return start === ''
    const isFirst = this.#spoken.trim() === ''
    const openings = isFirst ? [...this.#openings, ...OPENINGS_AT_START] : this.#openings
    this.#isSure = openings.some(opening => start.startsWith(opening))
    this.#isThinking = isFirst && start.startsWith(THINK)
    return this.#isSure || openings.some(opening => opening.startsWith(start))
  }
}
