import type { JsonSchema } from '../../schema/json-schema.ts'
import { calculations, upToThousand } from './calculation-graph.ts'
import { compact } from './compact-rule.ts'
import type { Grammar, ToolSentence } from './grammar.ts'
import { spokenNames } from './home/spoken-names.ts'
import { takesAnyText } from './names.ts'
import { limitsOf, SHARES, temperatures, wholeNumbers } from './number-graph.ts'
import { NOWHERE, RuleWriter, type States } from './rule-writer.ts'
import type { GraphRule } from './sentence-graph.ts'
import { choicesOf, keysOf, NO, propertyOf, YES } from './slots.ts'
import { isSaid, wordsSaid } from './spoken-form.ts'
import type { SlotNode, TemplateNode } from './template.ts'

/** Rules that are said with fewer words than may be typed: each more is one more way to mishear. */
const SPOKEN_RULES: Readonly<Record<string, readonly string[]>> = {
  the: ['the', 'my'],
  adjust: ['set', 'turn', 'dim', 'put', 'bring'],
  nudge: ['turn'],
  i_want: [],
}
const PRONOUNS = ['it', 'them']

/** Writes a grammar as rules that refer to each other: a list is one rule, wherever it is used. */
export class GraphBuilder {
  readonly #grammar: Grammar
  readonly #rules: (GraphRule | undefined)[] = []
  readonly #named = new Map<string, number | undefined>()

  constructor(grammar: Grammar) {
    this.#grammar = grammar
  }

  reserve(): number {
    return this.#rules.push(undefined) - 1
  }

  fill(rule: number, write: (writer: RuleWriter) => void): void {
    const writer = new RuleWriter()
    write(writer)
    this.#rules[rule] = compact(writer.written())
  }

  /** `undefined` if there is nothing to say. */
  phrases(phrases: Iterable<readonly string[]>): number | undefined {
    const said = [...phrases].filter(phrase => phrase.length > 0)
    if (said.length === 0) return undefined
    return this.write(writer => said.flatMap(phrase => writer.words(writer.start, phrase)))
  }

  /** A rule of its own; `write` gives the states in which it ends. */
  write(write: (writer: RuleWriter) => States): number {
    const rule = this.reserve()
    this.fill(rule, writer => writer.end(write(writer)))
    return rule
  }

  /**
   * One rule for all sentences of a kind; `undefined` if there are none. Who begins with a name leaves out the article, and
   * "the light on" is soon heard for "is the light on" or "dim the light …": it is there only after something else.
   */
  sentences(
    isWanted: (sentence: ToolSentence) => boolean,
    { isBegun = false }: { isBegun?: boolean } = {},
  ): number | undefined {
    const wanted = this.#grammar.sentences.filter(one => isSpoken(one) && isWanted(one))
    const rule = this.write(writer => {
      const ends = wanted.flatMap(one =>
        this.#nodes(isBegun ? one.sentence.nodes : withoutArticle(one.sentence.nodes), {
          writer,
          from: writer.start,
          said: one,
        }),
      )
      return ends.filter(state => state !== 0)
    })
    return this.#rules[rule]?.ends.length === 0 ? undefined : rule
  }

  rules(): GraphRule[] {
    return this.#rules.map(rule => rule ?? { arcs: [[]], ends: [] })
  }

  #nodes(nodes: readonly TemplateNode[], place: Place): States {
    let from = place.from
    // "It" goes without an article.
    let beforeArticle = from
    for (const node of nodes) {
      const said = this.#node(node, { ...place, from })
      const isNamed =
        node.kind === 'slot' && PRONOUN_LISTS.has(node.list ?? '') && this.#isCommand(place.said)
      const spokenOf = isNamed ? PRONOUNS.flatMap(word => place.writer.word(beforeArticle, word)) : []
      beforeArticle = isArticle(node) ? from : [...said, ...spokenOf]
      from = [...said, ...spokenOf]
    }
    return from
  }

  /** Whether it says what is to be done to something: there, something is also "it". */
  #isCommand({ sentence, tool }: ToolSentence): boolean {
    return !tool.readOnly && !this.#grammar.beginsWithAny(sentence)
  }

  #node(node: TemplateNode, place: Place): States {
    const { writer, from, said } = place
    if (from.length === 0) return NOWHERE
    if (node.kind === 'word') return isSaid(node.key) ? writer.words(from, wordsSaid(node.key)) : NOWHERE
    if (node.kind === 'fixed') return from
    if (node.kind === 'slot') return this.#slot(node, place)
    const spoken = node.kind === 'rule' ? SPOKEN_RULES[node.name] : undefined
    if (spoken) return spoken.flatMap(word => writer.word(from, word))
    const branches = node.kind === 'group' ? node.branches : [this.#grammar.lexicon.rule(node.name) ?? []]
    const ends = branches.flatMap(branch => this.#nodes(branch, { writer, from, said }))
    const isOptional = node.kind === 'group' && node.isOptional
    return [...new Set(isOptional ? [...ends, ...from] : ends)]
  }

  #slot(slot: SlotNode, { writer, from, said }: Place): States {
    const property = propertyOf(said.sentence.schema, slot.name)
    if (slot.list?.startsWith('the_')) return from
    if (slot.isCalculation) return writer.rule(from, this.#calculations())
    const choices =
      slot.choices ?? choicesOf(property) ?? (property.type === 'boolean' ? YES_OR_NO : undefined)
    if (choices)
      return writer.rule(
        from,
        this.#once(JSON.stringify(choices), () => choices.map(({ say }) => saidAs(say))),
      )
    if (slot.list !== undefined) return writer.rule(from, this.#list(slot.list, said))
    const isNumber =
      slot.isNumber || slot.isPercent || property.type === 'integer' || property.type === 'number'
    if (!isNumber || takesAnyText(slot.name)) return NOWHERE
    return this.#number(slot, property, { writer, from })
  }

  #number(slot: SlotNode, property: JsonSchema, { writer, from }: Omit<Place, 'said'>): States {
    const isOfHome = slot.name === 'temperature' && property.maximum === undefined
    if (isOfHome)
      return writer.rule(
        from,
        this.#once('temperatures', () => temperatures(this.#grammar.home)),
      )
    const isPercent = property.maximum === 100
    const told = writer.rule(from, this.#wholeNumbers(property))
    const percent = writer.word(told, 'percent')
    if (slot.isPercent) return percent
    if (!isPercent && !slot.isNumber) return told
    const shares = isPercent
      ? writer.rule(
          from,
          this.#once('shares', () => SHARES),
        )
      : NOWHERE
    return [...told, ...percent, ...shares]
  }

  #wholeNumbers(schema: JsonSchema): number | undefined {
    const limits = limitsOf(schema)
    return this.#once(`numbers ${limits.least} ${limits.most}`, () => wholeNumbers(limits))
  }

  #calculations(): number | undefined {
    if (!this.#named.has('calculations'))
      this.#named.set('calculations', calculations(this, upToThousand(this)))
    return this.#named.get('calculations')
  }

  /** What a list has, and of devices also two of them. In a command, things may be named that are not there. */
  #list(name: string, said: ToolSentence): number | undefined {
    const isCommand = this.#isCommand(said)
    const alone = this.names(name, { isCommand, isQuestion: said.tool.readOnly === true })
    if (alone === undefined || !isCommand || !JOINED.has(name)) return alone
    const [key, real] = [`joined ${name}`, this.names(name)]
    if (!this.#named.has(key))
      this.#named.set(
        key,
        this.write(writer => [...writer.rule(writer.start, alone), ...two(writer, real)]),
      )
    return this.#named.get(key)
  }

  /** What a list has, as it is said. */
  names(name: string, place: { isCommand?: boolean; isQuestion?: boolean } = {}): number | undefined {
    const { home, lexicon } = this.#grammar
    return this.#once(`list ${name} ${place.isCommand ? 'told' : place.isQuestion ? 'asked' : ''}`, () => {
      const spoken = home && spokenNames(home, name, place)
      return spoken ?? [...(lexicon.list(name)?.phrases() ?? [])].flatMap(inWords)
    })
  }

  #once(name: string, phrases: () => Iterable<readonly string[]>): number | undefined {
    if (!this.#named.has(name)) this.#named.set(name, this.phrases(phrases()))
    return this.#named.get(name)
  }
}

interface Place {
  writer: RuleWriter
  from: States
  said: ToolSentence
}

const JOINED = new Set(['switchable', 'covers'])
const PRONOUN_LISTS = new Set(['switchable', 'levelled', 'dimmable', 'covers'])
const YES_OR_NO = [...YES, ...NO].map(say => ({ say }))

/** `[<the>]` */
function isArticle(node: TemplateNode): boolean {
  const [branch, ...others] = node.kind === 'group' && node.isOptional ? node.branches : []
  const [only, ...more] = branch ?? []
  return others.length === 0 && more.length === 0 && only?.kind === 'rule' && only.name === 'the'
}

/** A calculation by itself begins as anything does that begins with a number: it is heard only after "what is". */
function isSpoken({ sentence: { isTyped, nodes } }: ToolSentence): boolean {
  const [first] = nodes
  return !isTyped && !(first?.kind === 'slot' && first.isCalculation)
}

function withoutArticle(nodes: readonly TemplateNode[]): readonly TemplateNode[] {
  const [first, ...others] = nodes
  return first && isArticle(first) ? others : nodes
}

/** One and another. */
function two(writer: RuleWriter, rule: number | undefined): States {
  const and = writer.word(writer.rule(writer.start, rule), 'and')
  return [...writer.rule(and, rule), ...writer.rule(writer.word(and, 'the'), rule)]
}

/** Words as they are said: letters alone, numbers in words. */
function inWords(phrase: readonly string[]): string[][] {
  return phrase.every(isSaid) ? [phrase.flatMap(wordsSaid)] : []
}

function saidAs(text: string): string[] {
  return keysOf(text).flatMap(wordsSaid)
}
