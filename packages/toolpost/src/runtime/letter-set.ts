/** The letters of a text as a bit set: a cheap first check that rules out most dissimilar words. */
export function letterSet(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at++) letters |= 1 << text.charCodeAt(at)
  return letters
}

/** The number of letters missing from the other set: a lower bound on the edit distance. */
export function lettersMissing(letters: number, other: number): number {
  let left = letters & ~other
  let ones = 0
  for (; left !== 0; ones++) left &= left - 1
  return ones
}
