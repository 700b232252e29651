/**
 * All sentences that can be understood, as a word graph for a speech recognizer. It carries no meaning: a sentence
 * heard with it is matched like a typed one. Plain data, so that it can be sent to another process; never expanded: a
 * list, such as the devices, is one rule that many places refer to.
 */
export interface SentenceGraph {
  /** Changes whenever the sentences do. */
  version: string
  /** The first rule is a whole sentence. */
  rules: readonly GraphRule[]
}

/** State 0 is the start. */
export interface GraphRule {
  /** By state: what may come next, and the state after it. A label is a lower-case word or the index of a rule. */
  arcs: readonly (readonly (readonly [label: string | number, to: number])[])[]
  /** The states in which the rule may end. */
  ends: readonly number[]
}
