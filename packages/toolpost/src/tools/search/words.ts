import { foldWord } from '../local/documents/words.ts'
import { stem } from './stem.ts'
import { SYNONYMS } from './synonyms.ts'

/** Words that say nothing about what a tool does. */
const FILLERS = new Set(
  `a an and any are as at be been being but by can could did do does doing every everything for from give had has have
  he help her here him his how i if in into is it its just let like many me much my need of on or our out over please
  really she should so some somebody someone something that the their them then there these they thing this those to
  tool us use want was we were what when where which who whom whose why will with would you your`.split(
    /\s+/,
  ),
)

/** `listOpenIssues_v2` → list open issues v2. Camel case is told apart by hand: names are foreign and can be long. */
export function splitWords(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/** The form of a word that it is found by. */
export function termOf(word: string): string {
  return stem(foldWord(word))
}

/** The words of a question that say what is wanted; all of them if none does. */
export function wantedWords(query: string): string[] {
  const words = splitWords(query)
  const kept = words.filter(word => !FILLERS.has(foldWord(word)))
  return kept.length > 0 ? kept : words
}

const related = new Map<string, Set<string>>()
for (const line of SYNONYMS) {
  const terms = line.split(' ').map(termOf)
  for (const term of terms) {
    const others = related.get(term) ?? new Set()
    for (const other of terms) if (other !== term) others.add(other)
    related.set(term, others)
  }
}

/** Terms that mean much the same. */
export function relatedTerms(term: string): Iterable<string> {
  return related.get(term) ?? []
}
