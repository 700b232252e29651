/** One form for all spellings of a word: `Müll` and `mull` find each other. */
export function foldWord(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
}

const FILLER_WORDS = new Set(
  `a about an and are at be by can did do does for from has have how i in is it me my of on or our say tell
  that the there this to was we what when where which who why will with you your`.split(/\s+/),
)

/** The words of a query that say what it is about; all of them if none does. */
export function meaningfulWords(query: string): string {
  const words = query.split(/\s+/)
  const kept = words.filter(word => !FILLER_WORDS.has(foldWord(word).replace(/[^\p{L}\p{N}]/gu, '')))
  return (kept.length > 0 ? kept : words).join(' ')
}
