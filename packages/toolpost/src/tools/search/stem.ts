/**
 * The stem of an English word: strips plural, past, -ing and the most common other endings. A light, linear-time stemmer:
 * its mistakes are the same in queries and in tools.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  return withoutE(withoutEnding(singular(word)))
}

function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word
}

/** Longest first. */
const ENDINGS: readonly [ending: string, instead: string][] = [
  ['ization', 'ize'],
  ['isation', 'ize'],
  ['ational', 'ate'],
  ['ications', 'y'],
  ['ication', 'y'],
  ['ation', 'ate'],
  ['ement', 'e'],
  ['ition', ''],
  ['ness', ''],
  ['ment', ''],
  ['ing', ''],
  ['ion', ''],
  ['ers', ''],
  ['ied', 'y'],
  ['ed', ''],
  ['er', ''],
  ['or', ''],
  ['ly', ''],
]

function withoutEnding(word: string): string {
  const found = ENDINGS.find(([ending]) => word.endsWith(ending) && word.length - ending.length >= 3)
  if (!found) return word
  const base = word.slice(0, -found[0].length)
  if (!/[aeiouy]/.test(base)) return word
  return found[1] === '' ? withoutDouble(base) : `${base}${found[1]}`
}

/** `stopp` → `stop`, but `call`. */
function withoutDouble(base: string): string {
  return /([^aeioulsz])\1$/.test(base) ? base.slice(0, -1) : base
}

function withoutE(word: string): string {
  return word.length > 3 && word.endsWith('e') ? word.slice(0, -1) : word
}
