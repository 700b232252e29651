import type { CallEvent } from '../executor/observers.ts'
import { isSubject } from './oauth/subject.ts'

/** All OAuth subjects are counted together, however many there are. */
const SUBJECTS = '(oauth)'
/** A program can use any caller name; those that are not configured are counted together. */
const OTHER = '(other)'

/** How many calls each caller made: one counter per client, plus two. */
export class CallerFigures {
  readonly #names: () => readonly string[]
  readonly #calls = new Map<string, number>()

  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  note({ caller, result }: CallEvent): void {
    if (caller === undefined || !result) return
    const name = this.#labelOf(caller)
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1)
  }

  #labelOf(caller: string): string {
    if (this.#calls.has(caller) || this.#names().includes(caller)) return caller
    return isSubject(caller) ? SUBJECTS : OTHER
  }

  /** Samples for Prometheus. */
  samples(): (readonly [labels: string, value: number])[] {
    return [...this.#calls].map(([name, calls]) => [`{caller="${name}"}`, calls] as const)
  }
}
