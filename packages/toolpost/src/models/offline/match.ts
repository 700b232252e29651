import type { JsonSchema } from '../../schema/json-schema.ts'
import { type Request, WEIGHTS } from './request.ts'
import { propertyOf, type SlotReader, slotReader, typed } from './slots.ts'
import { parseTemplate, type SlotNode, type TemplateNode } from './template.ts'

/** A sentence that is ready for matching. */
export interface Sentence {
  readonly template: string
  readonly nodes: readonly TemplateNode[]
  readonly schema: JsonSchema
  /** How it is interpreted, if it is more than a call with these arguments. */
  readonly means?: string | undefined
  /** Only for typing: too short, or too similar to others, to be told apart by ear. */
  readonly isTyped?: boolean | undefined
  /** The readers of its slots, including those in the rules it refers to. */
  readonly readers: Map<SlotNode, SlotReader>
}

export interface SentenceMatch {
  args: Record<string, unknown>
  /** 0 to 1: how much of the request the sentence accounts for. */
  score: number
  /** The most unknown words in one argument. */
  longestFree: number
}

/** Parses a sentence for a tool with this schema. Throws a TemplateError if it is malformed. */
export function prepareSentence(
  template: string,
  schema: JsonSchema,
  { means, isTyped }: Pick<Sentence, 'means' | 'isTyped'> = {},
): Sentence {
  return { template, nodes: parseTemplate(template), schema, means, isTyped, readers: new Map() }
}

/** How far a path through the sentence has come. */
interface Progress {
  at: number
  weight: number
  longestFree: number
  args: readonly (readonly [string, unknown])[]
}

const START: Progress = { at: 0, weight: 0, longestFree: 0, args: [] }
/** Nested brackets can have a great many paths; no real sentence needs this many. */
const MAX_STEPS = 20_000

/** The best match of the sentence with the whole request, if there is one. Never throws. */
export function matchSentence(sentence: Sentence, request: Request): SentenceMatch | undefined {
  const { length } = request.words
  if (length === 0) return undefined
  let best: SentenceMatch | undefined
  for (const { at, weight, longestFree, args } of new Search(sentence, request).ways(sentence.nodes, START)) {
    const score = weight / length
    if (at === length && (!best || score > best.score))
      best = { args: Object.fromEntries(args), score, longestFree }
  }
  return best
}

class Search {
  #steps = 0
  readonly #sentence: Sentence
  readonly #request: Request

  constructor(sentence: Sentence, request: Request) {
    this.#sentence = sentence
    this.#request = request
  }

  /** Every path through these nodes, starting at `index`. */
  *ways(nodes: readonly TemplateNode[], progress: Progress, index = 0): Generator<Progress> {
    const node = nodes[index]
    if (!node) yield progress
    else if (++this.#steps <= MAX_STEPS)
      for (const next of this.#take(node, progress)) yield* this.ways(nodes, next, index + 1)
  }

  *#take(node: TemplateNode, progress: Progress): Generator<Progress> {
    const { at, weight, longestFree, args } = progress
    if (node.kind === 'word') {
      const likeness = this.#request.likeness(at, node.key)
      if (likeness) yield { ...progress, at: at + 1, weight: weight + WEIGHTS[likeness] }
    } else if (node.kind === 'group') {
      for (const branch of node.branches) yield* this.ways(branch, progress)
      if (node.isOptional) yield progress
    } else if (node.kind === 'rule') {
      yield* this.ways(this.#request.lexicon.rule(node.name) ?? [IMPOSSIBLE], progress)
    } else if (node.kind === 'fixed') {
      const value = typed(node.value, propertyOf(this.#sentence.schema, node.name))
      yield { ...progress, args: [...args, [node.name, value]] }
    } else {
      for (const taken of this.#readerOf(node)(this.#request, at))
        yield {
          at: at + taken.used,
          weight: weight + taken.weight,
          longestFree: Math.max(longestFree, taken.free),
          args: [...args, [node.name, taken.value]],
        }
    }
  }

  #readerOf(slot: SlotNode): SlotReader {
    const { readers, schema } = this.#sentence
    const reader = readers.get(slot) ?? slotReader(slot, schema)
    readers.set(slot, reader)
    return reader
  }
}

/** Stands in for a missing rule. */
const IMPOSSIBLE: TemplateNode = { kind: 'group', branches: [], isOptional: false }
