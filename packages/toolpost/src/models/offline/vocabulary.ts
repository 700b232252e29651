import type { ToolSentence } from './grammar.ts'
import type { Home } from './home/home.ts'
import { ALL_NOUNS, COMMON_ROOMS, plural } from './home/nouns.ts'
import type { ListReader } from './lists.ts'
import { NO_NAMES } from './names.ts'
import { NUMBER_WORDS } from './numbers.ts'
import type { SpokenWords } from './spoken-words.ts'
import type { TemplateNode } from './template.ts'
import { wordsOf } from './words.ts'

/** Ordinary words that look like words of sentences and are none of them. */
const ORDINARY = `look hold wheel heel heart hear wheat chose clothes close oven open cook cool book took lick lamb limp
  fight night right might sight tight lift left lost list last least tower flower lower power powder raised rise raze
  torn train brain rain drain pain plain plane start stark star smart chart stop shop ship shut shot short shirt shut sheet
  ring bring spring string thing think dam dime time dine fine line mine nine wine doll dollar color colour collar light
  lighter lightning slight delight kitten chicken bedroom mushroom broom groom room roof root boot foot food wood world word
  work walk talk walls wall well will wait white while wheels`

const templates = new WeakMap<readonly TemplateNode[], readonly string[]>()

/** Every word that somebody may have meant as it stands: it is not taken for a misspelling of another. */
export function vocabularyOf(
  sentences: readonly ToolSentence[],
  { rules }: SpokenWords,
  { lists }: { home: Home | undefined; lists: ReadonlyMap<string, ListReader> },
): ReadonlySet<string> {
  const words = new Set<string>([...NO_NAMES, ...NUMBER_WORDS, ...ORDINARY.split(/\s+/)])
  for (const noun of ALL_NOUNS) words.add(noun).add(plural(noun))
  for (const room of COMMON_ROOMS) for (const word of room.split(' ')) words.add(word)
  for (const { sentence } of sentences) for (const word of ownWords(sentence.nodes)) words.add(word)
  for (const nodes of rules.values()) for (const word of ownWords(nodes)) words.add(word)
  for (const list of lists.values())
    for (const phrase of list.phrases()) for (const word of phrase) words.add(word)
  return words
}

/** The words that a sentence has itself, also those of its values. */
function ownWords(nodes: readonly TemplateNode[]): readonly string[] {
  const known = templates.get(nodes)
  if (known) return known
  const words = nodes.flatMap(node => {
    if (node.kind === 'word') return [node.key]
    if (node.kind === 'slot')
      return (node.choices ?? []).flatMap(({ say }) => wordsOf(say).map(({ key }) => key))
    return node.kind === 'group' ? node.branches.flatMap(ownWords) : []
  })
  templates.set(nodes, words)
  return words
}
