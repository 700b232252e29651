import type { JsonSchema } from '../../schema/json-schema.ts'
import { propertyOf, type Request, type SlotReader, slotReader, typed, WEIGHTS } from './slots.ts'
import { parseTemplate, type TemplateNode } from './template.ts'
import { compareWords } from './words.ts'

/** A sentence that is ready to be compared with requests. */
export interface Sentence {
  readonly template: string
  readonly nodes: readonly TemplateNode[]
  readonly readers: ReadonlyMap<TemplateNode, SlotReader>
  readonly schema: JsonSchema
}

export interface SentenceMatch {
  args: Record<string, unknown>
  /** 0 to 1: how much of the request the sentence accounts for. */
  score: number
  /** The most words that one argument took of which nothing is known. */
  longestFree: number
}

/** Reads a sentence for a tool with that schema. Throws a TemplateError if it cannot be read. */
export function prepareSentence(template: string, schema: JsonSchema): Sentence {
  const nodes = parseTemplate(template)
  const readers = new Map<TemplateNode, SlotReader>()
  const visit = (branch: readonly TemplateNode[]): void => {
    for (const node of branch) {
      if (node.kind === 'group') node.branches.forEach(visit)
      else if (node.kind === 'slot') readers.set(node, slotReader(node, schema))
    }
  }
  visit(nodes)
  return { template, nodes, readers, schema }
}

/** The best way in which the sentence can mean the whole request, if there is one. Never throws. */
export function matchSentence(sentence: Sentence, request: Request): SentenceMatch | undefined {
  if (request.words.length === 0) return undefined
  const search = new Search(sentence, request)
  search.follow({ nodes: sentence.nodes, index: 0, next: undefined }, START)
  return search.best
}

/** Nodes that are still to be matched, and what follows them. */
interface Rest {
  nodes: readonly TemplateNode[]
  index: number
  next: Rest | undefined
}

/** How far a way through the sentence has come. */
interface Progress {
  at: number
  weight: number
  longestFree: number
  args: readonly (readonly [string, unknown])[]
}

const START: Progress = { at: 0, weight: 0, longestFree: 0, args: [] }
/** Brackets in brackets can be followed in very many ways; nobody's sentence needs so many. */
const MAX_STEPS = 20_000

class Search {
  best: SentenceMatch | undefined
  #steps = 0
  readonly #sentence: Sentence
  readonly #request: Request

  constructor(sentence: Sentence, request: Request) {
    this.#sentence = sentence
    this.#request = request
  }

  follow(rest: Rest | undefined, progress: Progress): void {
    if (++this.#steps > MAX_STEPS) return
    if (!rest) return this.#arrive(progress)
    const node = rest.nodes[rest.index]
    if (!node) return this.follow(rest.next, progress)
    this.#take(node, { ...rest, index: rest.index + 1 }, progress)
  }

  #take(node: TemplateNode, after: Rest, progress: Progress): void {
    switch (node.kind) {
      case 'word':
        return this.#takeWord(node.key, after, progress)
      case 'group':
        for (const nodes of node.branches) this.follow({ nodes, index: 0, next: after }, progress)
        if (node.isOptional) this.follow(after, progress)
        return
      case 'fixed': {
        const value = typed(node.value, propertyOf(this.#sentence.schema, node.name))
        return this.follow(after, { ...progress, args: [...progress.args, [node.name, value]] })
      }
      case 'slot':
        return this.#takeSlot(node, after, progress)
    }
  }

  #takeWord(key: string, after: Rest, progress: Progress): void {
    const said = this.#request.words[progress.at]?.key
    const likeness = said === undefined ? undefined : compareWords(said, key)
    if (likeness === undefined) return
    this.follow(after, {
      ...progress,
      at: progress.at + 1,
      weight: progress.weight + WEIGHTS[likeness],
    })
  }

  #takeSlot(node: TemplateNode & { kind: 'slot' }, after: Rest, progress: Progress): void {
    const read = this.#sentence.readers.get(node)
    for (const { value, used, weight, free } of read?.(this.#request, progress.at) ?? []) {
      this.follow(after, {
        at: progress.at + used,
        weight: progress.weight + weight,
        longestFree: Math.max(progress.longestFree, free),
        args: [...progress.args, [node.name, value]],
      })
    }
  }

  #arrive({ at, weight, longestFree, args }: Progress): void {
    const { length } = this.#request.words
    const score = weight / length
    if (at !== length || (this.best && this.best.score >= score)) return
    this.best = { args: Object.fromEntries(args), score, longestFree }
  }
}
