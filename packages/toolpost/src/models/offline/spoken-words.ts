import { HOME_RULES } from '../../known-servers/zwave-rules.ts'
import type { HomeWords } from './home/home.ts'
import { HOME_LISTS } from './home/home-lists.ts'
import { type ListReader, WordList } from './lists.ts'
import { parseRule, type TemplateNode } from './template.ts'
import type { ListSource } from './tool-lists.ts'

/** An entry of a list: what is said, or what is said for which value. */
type ListItem = string | { say: string | readonly string[]; value?: unknown }

/** What somebody has written down about how things are said. */
export interface SentenceSettings extends HomeWords {
  /** Name → what it stands for, in the grammar of sentences. */
  rules?: Readonly<Record<string, string>> | undefined
  /** Name → what can be said there. */
  lists?: Readonly<Record<string, readonly ListItem[] | ListSource>> | undefined
}

/** Rules and lists that are ready to be used, and what is wrong with the others. */
export interface SpokenWords {
  readonly home: HomeWords
  readonly rules: ReadonlyMap<string, readonly TemplateNode[]>
  readonly lists: ReadonlyMap<string, ListReader>
  /** Lists that tools fill. */
  readonly sources: ReadonlyMap<string, ListSource>
  readonly problems: readonly string[]
}

/** Reads what somebody has written down. What cannot be read is left out, and told. */
export function readSettings(settings: SentenceSettings = {}): SpokenWords {
  const problems: string[] = []
  const rules = new Map<string, readonly TemplateNode[]>()
  const written = { ...HOME_RULES, ...lowerKeys(settings.rules) }
  for (const [name, text] of Object.entries(written)) {
    try {
      rules.set(name, parseRule(text))
    } catch (error) {
      problems.push(`rule '${name}' ${(error as Error).message}`)
    }
  }
  const lists = new Map<string, ListReader>()
  const sources = new Map<string, ListSource>()
  for (const [name, items] of Object.entries(lowerKeys(settings.lists)))
    if ('tool' in items) sources.set(name, items)
    else lists.set(name, new WordList(items.map(entryOf)))
  dropBroken(rules, { lists, sources }, problems)
  const { rooms, groups, aliases } = settings
  return { home: { rooms, groups, aliases }, rules, lists, sources, problems }
}

type Lists = Pick<SpokenWords, 'lists' | 'sources'>

/** What is wrong with the names that a sentence refers to; `undefined` if there are all of them. */
export function problemWith(
  nodes: readonly TemplateNode[],
  { rules, ...all }: Lists & Pick<SpokenWords, 'rules'>,
): string | undefined {
  for (const node of nodes) {
    if (node.kind === 'rule' && !rules.has(node.name))
      return `refers to a rule <${node.name}>, which there is not`
    if (
      node.kind === 'slot' &&
      node.list !== undefined &&
      !all.lists.has(node.list) &&
      !all.sources.has(node.list) &&
      !HOME_LISTS.includes(node.list)
    )
      return `refers to a list '${node.list}', which there is not`
    const inner =
      node.kind === 'group' ? node.branches.map(branch => problemWith(branch, { rules, ...all })) : []
    const problem = inner.find(found => found !== undefined)
    if (problem) return problem
  }
  return undefined
}

function lowerKeys<T>(record: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]))
}

function entryOf(item: ListItem): { value: unknown; say: readonly string[] } {
  if (typeof item === 'string') return { value: item, say: [item] }
  const say = typeof item.say === 'string' ? item.say.split('|') : item.say
  return { value: item.value ?? say[0], say }
}

/** Rules that refer to what there is not, or in the end to themselves, and those that need them. */
function dropBroken(rules: Map<string, readonly TemplateNode[]>, lists: Lists, problems: string[]): void {
  for (let before = -1; before !== rules.size; ) {
    before = rules.size
    for (const [name, nodes] of rules) {
      const problem =
        problemWith(nodes, { rules, ...lists }) ??
        (leadsTo(name, nodes, rules) ? 'refers to itself' : undefined)
      if (problem === undefined) continue
      rules.delete(name)
      problems.push(`rule '${name}' ${problem}`)
    }
  }
}

function leadsTo(
  name: string,
  nodes: readonly TemplateNode[],
  rules: ReadonlyMap<string, readonly TemplateNode[]>,
  seen = new Set<string>(),
): boolean {
  return nodes.some(node => {
    if (node.kind === 'group') return node.branches.some(branch => leadsTo(name, branch, rules, seen))
    if (node.kind !== 'rule') return false
    if (node.name === name) return true
    if (seen.has(node.name)) return false
    seen.add(node.name)
    return leadsTo(name, rules.get(node.name) ?? [], rules, seen)
  })
}

/** Whether a sentence refers to a list that a tool fills, and that is not among those known now. */
export function needsMore(
  nodes: readonly TemplateNode[],
  spoken: Pick<SpokenWords, 'sources' | 'rules'>,
  known: ReadonlyMap<string, ListReader>,
): boolean {
  return nodes.some(node => {
    if (node.kind === 'slot')
      return node.list !== undefined && spoken.sources.has(node.list) && !known.has(node.list)
    if (node.kind === 'rule') return needsMore(spoken.rules.get(node.name) ?? [], spoken, known)
    return node.kind === 'group' && node.branches.some(branch => needsMore(branch, spoken, known))
  })
}
