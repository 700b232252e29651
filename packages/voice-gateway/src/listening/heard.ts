import type { Meaning } from './grammar.ts'

export type Decision = 'exact' | 'sentence' | 'ask' | 'free'

/** What we decided was said, and why. */
export interface Heard {
  text: string
  /** The free transcript, without the grammar. */
  free_text: string
  decision: Decision
  /** How much likelier it is than the next sentence that means something else, in nats. */
  margin?: number
}

export interface DecideOptions {
  understand(text: string): Meaning
  phonesOf(word: string): readonly string[]
  /** The same sentence with homophones substituted. */
  soundAlikes(text: string): readonly string[]
  /** Whether the free transcript says no. */
  isRefusal?: boolean
}
