/** Digits that a speech model writes, as words. */
const FIGURES = {
  1: 'one',
  7: 'seven',
  8: 'eight',
  30: 'thirty',
  40: 'forty',
  50: 'fifty',
  '%': 'percent',
}

export function wordsIn(text) {
  const words = text
    .toLowerCase()
    .replaceAll('%', ' % ')
    .match(/[a-z0-9']+|%/g)
  return (words ?? []).map(word => FIGURES[word] ?? word)
}

/** The number of words to change, add or remove to turn what was heard into what was said. */
export function wordErrors(said, heard) {
  const heardWords = wordsIn(heard)
  let row = heardWords.map((_, index) => index + 1)
  wordsIn(said).forEach((word, line) => {
    let diagonal = line
    let left = line + 1
    row = row.map((above, index) => {
      left = Math.min(above + 1, left + 1, diagonal + (heardWords[index] === word ? 0 : 1))
      diagonal = above
      return left
    })
  })
  return row.at(-1) ?? wordsIn(said).length
}
