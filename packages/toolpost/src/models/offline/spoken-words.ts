import type { HomeWords } from './home/home.ts'
import { HOME_LISTS } from './home/home-lists.ts'
import { type ListReader, WordList } from './lists.ts'
import { parseRule, type TemplateNode } from './template.ts'
import type { ListSource } from './tool-lists.ts'
import { ZWAVE } from './zwave.ts'

/** An entry of a list: what is said, or what is said and the value it stands for. */
type ListItem = string | { say: string | readonly string[]; value?: unknown }

/** The configuration's rules, lists and names for sentences. */
export interface SentenceSettings extends HomeWords {
  /** Name → what it stands for, in the sentence grammar. */
  rules?: Readonly<Record<string, string>> | undefined
  /** Name → what can be said there. */
  lists?: Readonly<Record<string, readonly ListItem[] | ListSource>> | undefined
}

/** Rules and lists that are ready for use, and what is wrong with the others. */
export interface SpokenWords {
  readonly home: HomeWords
  readonly rules: ReadonlyMap<string, readonly TemplateNode[]>
  readonly lists: ReadonlyMap<string, ListReader>
  /** Lists filled by tools. */
  readonly sources: ReadonlyMap<string, ListSource>
  readonly problems: readonly string[]
}

/** Parses the settings. What is malformed is left out and reported in `problems`. */
export function readSettings(settings: SentenceSettings = {}): SpokenWords {
  const problems: string[] = []
  const rules = new Map<string, readonly TemplateNode[]>()
  const written = { ...ZWAVE.rules, ...lowerKeys(settings.rules) }
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

/** Whether all names in the text of a sentence are known: faster than walking its nodes. */
export function hasAllNames(template: string, known: Lists & Pick<SpokenWords, 'rules'>): boolean {
  let names = 0
  for (const [, rule, list] of template.matchAll(/<(\w{1,60})>|@(\w{1,60})\}/g)) {
    if (rule !== undefined && !known.rules.has(rule)) return false
    if (list !== undefined && !hasList(list, known)) return false
    names++
  }
  return names === template.split(/[<@]/).length - 1
}

/** What is wrong with the names a sentence refers to; `undefined` if they all exist. */
export function problemWith(
  nodes: readonly TemplateNode[],
  known: Lists & Pick<SpokenWords, 'rules'>,
): string | undefined {
  for (const node of nodes) {
    if (node.kind === 'rule' && !known.rules.has(node.name))
      return `refers to a rule <${node.name}> that does not exist`
    if (node.kind === 'slot' && node.list !== undefined && !hasList(node.list, known))
      return `refers to a list '${node.list}' that does not exist`
    for (const branch of node.kind === 'group' ? node.branches : []) {
      const problem = problemWith(branch, known)
      if (problem) return problem
    }
  }
  return undefined
}

function hasList(name: string, { lists, sources }: Lists): boolean {
  return lists.has(name) || sources.has(name) || HOME_LISTS.includes(name)
}

function lowerKeys<T>(record: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]))
}

function entryOf(item: ListItem): { value: unknown; say: readonly string[] } {
  if (typeof item === 'string') return { value: item, say: [item] }
  const say = typeof item.say === 'string' ? item.say.split('|') : item.say
  return { value: item.value ?? say[0], say }
}

/** Drops rules that refer to something missing or back to themselves, and those that depend on them. */
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

/** Whether a sentence refers to a list that a tool fills but that is not known yet. */
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
