const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** An answer as sentences to read aloud, without Markdown. */
export function sentencesOf(text: string): string[] {
  const plain = text
    .replace(/[*#`]+/g, '')
    .replace(/_+/g, ' ')
    .replace(/\s+/g, ' ')
  return Array.from(segmenter.segment(plain), ({ segment }) => segment.trim()).filter(hasWords)
}

function hasWords(sentence: string): boolean {
  return /[\p{L}\p{N}]/u.test(sentence)
}
