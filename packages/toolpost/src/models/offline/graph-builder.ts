import type { JsonSchema } from '../../schema/json-schema.ts'
import { calculations, upToThousand } from './calculation-graph.ts'
import { compact } from './compact-rule.ts'
import type { Grammar, ToolSentence } from './grammar.ts'
import { type NamedIn, spokenNames, spokenOnlyIn } from './home/spoken-names.ts'
import { takesAnyText } from './names.ts'
import { limitsOf, SHARES, temperatures, wholeNumbers } from './number-graph.ts'
import { addStates, NOWHERE, RuleWriter, type States } from './rule-writer.ts'
import type { GraphRule } from './sentence-graph.ts'
import { choicesOf, keysOf, NO, propertyOf, YES } from './slots.ts'
import { isSaid, phraseSaid, wordsSaid } from './spoken-form.ts'
import type { SlotNode, TemplateNode } from './template.ts'

/** Rules with fewer variants in speech than in typing: each extra one is one more way to mishear. */
const SPOKEN_RULES: Readonly<Record<string, readonly string[]>> = {
  the: ['the', 'my'],
  adjust: ['set', 'turn', 'dim', 'put', 'bring'],
  nudge: ['turn', 'put', 'bump'],
  i_want: [],
}
const PRONOUNS = ['it', 'them']

/** Writes a grammar as rules that refer to each other; a list is one rule, wherever it is used. */
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

  /** `undefined` if there are no phrases. */
  phrases(phrases: Iterable<readonly string[]>): number | undefined {
    const said = [...phrases].filter(phrase => phrase.length > 0)
    if (said.length === 0) return undefined
    return this.write(writer => {
      const ends: number[] = []
      for (const phrase of said) ends.push(...writer.words(writer.start, phrase))
      return ends
    })
  }

  /** Adds a rule; `write` returns its end states. */
  write(write: (writer: RuleWriter) => States): number {
    const rule = this.reserve()
    this.fill(rule, writer => writer.end(write(writer)))
    return rule
  }

  /**
   * One rule for all sentences of a kind; `undefined` if there are none. A leading article is dropped: "the light on" is
   * easily confused with "is the light on" or "dim the light …". It stays only if something comes before it (`isBegun`).
   */
  sentences(isWanted: (sentence: ToolSentence) => boolean, { isBegun = false } = {}): number | undefined {
    const wanted = this.#grammar.sentences.filter(one => isSpoken(one) && isWanted(one))
    const rule = this.write(writer => {
      const ends = wanted.flatMap(said => {
        const { nodes } = said.sentence
        return this.#nodes(isBegun ? nodes : withoutArticle(nodes), writer.start, { writer, said })
      })
      return ends.filter(state => state !== 0)
    })
    return this.#rules[rule]?.ends.length === 0 ? undefined : rule
  }

  rules(): GraphRule[] {
    return this.#rules.map(rule => rule ?? { arcs: [[]], ends: [] })
  }

  #nodes(nodes: readonly TemplateNode[], start: States, place: Place): States {
    let from = start
    // "It" takes no article.
    let beforeArticle = from
    for (const node of nodes) {
      const said = this.#node(node, from, place)
      const isNamed =
        node.kind === 'slot' && PRONOUN_LISTS.has(node.list ?? '') && this.#isCommand(place.said)
      const next = isNamed
        ? [...said, ...PRONOUNS.flatMap(word => place.writer.word(beforeArticle, word))]
        : said
      beforeArticle = isArticle(node) ? from : next
      from = next
    }
    return from
  }

  /** Whether it is a command to a device: there, "it" may stand for the device. */
  #isCommand({ sentence, tool }: ToolSentence): boolean {
    return !tool.readOnly && !this.#grammar.beginsWithAny(sentence)
  }

  #node(node: TemplateNode, from: States, place: Place): States {
    const { writer } = place
    if (from.length === 0) return NOWHERE
    if (node.kind === 'word') return isSaid(node.key) ? writer.words(from, wordsSaid(node.key)) : NOWHERE
    if (node.kind === 'fixed') return from
    if (node.kind === 'slot') return this.#slot(node, from, place)
    const spoken = node.kind === 'rule' ? SPOKEN_RULES[node.name] : undefined
    if (spoken) return spoken.flatMap(word => writer.word(from, word))
    const branches = node.kind === 'group' ? node.branches : [this.#grammar.lexicon.rule(node.name) ?? []]
    const ends: number[] = []
    for (const branch of branches) addStates(ends, this.#nodes(branch, from, place))
    if (node.kind === 'group' && node.isOptional) addStates(ends, from)
    return ends
  }

  #slot(slot: SlotNode, from: States, { writer, said }: Place): States {
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

  #number(
    slot: SlotNode,
    property: JsonSchema,
    { writer, from }: { writer: RuleWriter; from: States },
  ): States {
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
    return this.#rule('calculations', () => calculations(this, upToThousand(this)))
  }

  /** A list's names, and pairs of devices. Commands may also name devices that do not exist. */
  #list(name: string, said: ToolSentence): number | undefined {
    const isCommand = this.#isCommand(said)
    const alone = this.names(name, isCommand ? 'command' : said.tool.readOnly ? 'question' : 'anything')
    if (alone === undefined || !isCommand || !JOINED.has(name)) return alone
    const real = this.names(name)
    return this.#rule(`joined ${name}`, () =>
      this.write(writer => [...writer.rule(writer.start, alone), ...two(writer, real)]),
    )
  }

  /** A list's names, as spoken in this context; names spoken in all contexts share one rule. */
  names(name: string, place: NamedIn = 'anything'): number | undefined {
    return this.#rule(`list ${name} ${place}`, () => {
      const anywhere = place === 'anything' ? this.#namesAnywhere(name) : this.names(name)
      const { home } = this.#grammar
      const only = home ? spokenOnlyIn(home, name, place) : []
      if (only.length === 0) return anywhere
      return this.write(writer => [
        ...writer.rule(writer.start, anywhere),
        ...only.flatMap(phrase => writer.words(writer.start, phrase)),
      ])
    })
  }

  #namesAnywhere(name: string): number | undefined {
    const { home, lexicon } = this.#grammar
    const spoken = home && spokenNames(home, name)
    return this.phrases(spoken ?? [...(lexicon.list(name)?.phrases() ?? [])].flatMap(phraseSaid))
  }

  #once(name: string, phrases: () => Iterable<readonly string[]>): number | undefined {
    return this.#rule(name, () => this.phrases(phrases()))
  }

  /** Writes a rule on first use. */
  #rule(name: string, write: () => number | undefined): number | undefined {
    if (!this.#named.has(name)) this.#named.set(name, write())
    return this.#named.get(name)
  }
}

interface Place {
  writer: RuleWriter
  said: ToolSentence
}

const JOINED = new Set(['switchable', 'covers'])
const PRONOUN_LISTS = new Set(['switchable', 'levelled', 'dimmable', 'covers'])
const YES_OR_NO = [...YES, ...NO].map(say => ({ say }))

/** `[<the>]` */
function isArticle(node: TemplateNode): boolean {
  if (node.kind !== 'group' || !node.isOptional || node.branches.length !== 1) return false
  const [only, more] = node.branches[0] ?? []
  return more === undefined && only?.kind === 'rule' && only.name === 'the'
}

/** A bare calculation sounds like anything that begins with a number, so it is heard only after "what is". */
function isSpoken({ sentence: { isTyped, nodes } }: ToolSentence): boolean {
  const [first] = nodes
  return !isTyped && !(first?.kind === 'slot' && first.isCalculation)
}

function withoutArticle(nodes: readonly TemplateNode[]): readonly TemplateNode[] {
  const [first, ...others] = nodes
  return first && isArticle(first) ? others : nodes
}

/** "A and B". */
function two(writer: RuleWriter, rule: number | undefined): States {
  const and = writer.word(writer.rule(writer.start, rule), 'and')
  return [...writer.rule(and, rule), ...writer.rule(writer.word(and, 'the'), rule)]
}

function saidAs(text: string): string[] {
  return keysOf(text).flatMap(wordsSaid)
}
