import { foldWord } from './words.ts'

const EXCERPT_CHARS = 300
/** How much text before the match is shown. */
const LEAD_CHARS = 60

/** About 300 characters of a text on one line, around the place where most of the words occur together. */
export function excerptAround(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= EXCERPT_CHARS) return line
  const start = wordStart(line, Math.min(densestPlace(line, words) - LEAD_CHARS, line.length - EXCERPT_CHARS))
  const end = wordEnd(line, start + EXCERPT_CHARS)
  return `${start > 0 ? '…' : ''}${line.slice(start, end).trim()}${end < line.length ? '…' : ''}`
}

/** The position of the match with the most different words within reach; 0 if there is no match. */
function densestPlace(line: string, words: readonly string[]): number {
  const folded = foldWord(line)
  const places = words.map(word => placesOf(word, folded))
  const reach = EXCERPT_CHARS - LEAD_CHARS
  let best = { place: 0, count: 0 }
  for (const place of places.flat().sort((a, b) => a - b)) {
    const count = places.filter(list => list.some(other => other >= place && other < place + reach)).length
    if (count > best.count) best = { place, count }
  }
  return best.place
}

function placesOf(word: string, folded: string): number[] {
  const places: number[] = []
  for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) places.push(at)
  return places
}

function wordStart(line: string, from: number): number {
  if (from <= 0) return 0
  const blank = line.indexOf(' ', from)
  return blank >= 0 && blank - from < LEAD_CHARS ? blank + 1 : from
}

function wordEnd(line: string, to: number): number {
  if (to >= line.length) return line.length
  const blank = line.lastIndexOf(' ', to)
  return to - blank < LEAD_CHARS ? blank : to
}
