import type { ToolSentence } from './grammar.ts'
import type { Home } from './home/home.ts'
import { ALL_NOUNS, COMMON_ROOMS, plural } from './home/nouns.ts'
import type { ListReader } from './lists.ts'
import { NO_NAMES } from './names.ts'
import { NUMBER_WORDS } from './numbers.ts'
import type { SpokenWords } from './spoken-words.ts'
import type { TemplateNode } from './template.ts'
import { keysIn } from './words.ts'

/** Ordinary words that look like words of sentences but are not. */
const ORDINARY = `look hold wheel heel heart hear wheat chose clothes close oven open cook cool book took lick lamb limp
  fight night right might sight tight lift left lost list last least tower flower lower power powder raised rise raze
  torn train brain rain drain pain plain plane start stark star smart chart stop shop ship shut shot short shirt shut sheet
  ring bring spring string thing think dam dime time dine fine line mine nine wine doll dollar color colour collar light
  lighter lightning slight delight kitten chicken bedroom mushroom broom groom room roof root boot foot food wood world word
  work walk talk walls wall well will wait white while wheels`

/** Every known word; none of them is taken for a misspelling of another. */
export function vocabularyOf(
  sentences: readonly ToolSentence[],
  { rules }: SpokenWords,
  { lists }: { home: Home | undefined; lists: ReadonlyMap<string, ListReader> },
): ReadonlySet<string> {
  const words = new Set<string>([...NO_NAMES, ...NUMBER_WORDS, ...ORDINARY.split(/\s+/)])
  for (const noun of ALL_NOUNS) words.add(noun).add(plural(noun))
  for (const room of COMMON_ROOMS) for (const word of room.split(' ')) words.add(word)
  for (const { sentence } of sentences) addOwnWords(sentence.nodes, words)
  for (const nodes of rules.values()) addOwnWords(nodes, words)
  for (const list of lists.values())
    for (const phrase of list.phrases()) for (const word of phrase) words.add(word)
  return words
}

/** The words of a sentence itself, including those of its values. */
function addOwnWords(nodes: readonly TemplateNode[], words: Set<string>): void {
  for (const node of nodes) {
    if (node.kind === 'word') words.add(node.key)
    else if (node.kind === 'slot')
      for (const { say } of node.choices ?? []) for (const key of keysIn(say)) words.add(key)
    else if (node.kind === 'group') for (const branch of node.branches) addOwnWords(branch, words)
  }
}
