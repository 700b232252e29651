/**
 * All sentences that can be understood, as a graph of words for whoever listens along it. It carries no meaning: a
 * sentence that was heard along it is understood by matching it like one that was typed. Plain data, so that it can be
 * sent to another process; never expanded: a list such as the devices is one rule that many places refer to.
 */
export interface SentenceGraph {
  /** Changes with what can be said. */
  version: string
  /** The first rule is a whole sentence. */
  rules: readonly GraphRule[]
}

/** State 0 is the start. */
export interface GraphRule {
  /** By state: what may come next, and the state after it. A label is a word (lower case), or the index of a rule. */
  arcs: readonly (readonly (readonly [label: string | number, to: number])[])[]
  /** States in which the rule may end. */
  ends: readonly number[]
}
