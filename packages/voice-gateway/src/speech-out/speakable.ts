import { readData } from '../data.ts'

/**
 * Applied in order: what to find, and what a voice says instead. A model may write anything, so no pattern may rescan
 * the same characters from every position: a run is matched only from its beginning.
 */
const RULES: readonly (readonly [RegExp, string | ((...parts: string[]) => string)])[] = [
  [/\r\n?|[\u2028\u2029]/g, '\n'],
  [/[ \t]+/g, ' '],
  [/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, '$1'],
  [/<?(?:https?|ftp|mqtts?|wss?):\/\/[^\s<>"'`)\]]+>?/gi, url => ` ${hostOf(url)}`],
  [/<\/?[a-z][^<>\n]*>/gi, ' '],
  // Lines between paragraphs and below table heads; then quotes, headings, list and task marks.
  [/^[ |:*_=-]{3,}$/gm, ''],
  [/^ ?(?:> ?|#{1,6} |[-*+•‣◦▪–—] |\[[ xX]\] )+/gm, ''],
  [/^ ?\||\| ?$/gm, ''],
  [/\|/g, ', '],
  [/(?<=\d) ?[*×] ?(?=\d)/g, ' times '],
  [/[→⇒⟶]|(?<=\s)[-=]>(?=\s)/g, ' to '],
  [/\\([\\`*_{}[\]()#+.!~-])/g, '$1'],
  [/~~|[*`]/g, ''],
  [/(?<=[\p{L}\p{N}])_+(?=[\p{L}\p{N}])/gu, ' '],
  [/_/g, ''],
  // Keycaps, flags, emoji with their modifiers.
  [/\p{Regional_Indicator}|\p{Emoji_Modifier}|[\u{e0020}-\u{e007f}]|\ufe0e|\ufe0f|\u20e3/gu, ''],
  [/\p{Extended_Pictographic}/gu, ' '],
  [/(?<=[\p{L}\p{N}]) ?\n+/gu, '. '],
  [/[\p{Cc}\p{Cs}\p{Co}]/gu, ' '],
  [/\p{Cf}/gu, ''],
  [/\s+/g, ' '],
  [/ (?=[,.;:!?](?: |$))/g, ''],
]

/** The speakable part of a text written for reading; empty if there is none. */
export function speakable(text: string): string {
  const said = RULES.reduce((rest, [found, instead]) => rest.replace(found, instead as string), text).trim()
  return /[\p{L}\p{N}]/u.test(said) ? said : ''
}

/** Whether a line opens or closes a code block. */
export function isCodeFence(line: string): boolean {
  return /^\s*(```|~~~)/.test(line) && !/^\s*```[^`]+```/.test(line)
}

function hostOf(url: string): string {
  return (/:\/\/(?:[^/@]*@)?(?:www\.)?([^/:?#>]*)/i.exec(url)?.[1] ?? '').replace(/(?<![.,;!?])[.,;!?]+$/, '')
}

/** A longer sentence is cut at a comma, so that the voice need not wait for its end; a word this long anywhere. */
const LONG_SENTENCE_CHARACTERS = 200
const LONGEST_WORD_CHARACTERS = 1_000
/** A clause shorter than this is not worth cutting off. */
const SHORT_CLAUSE_CHARACTERS = 60
const STOP_AND_SPACE = /(?<![.!?…])([.!?…]+)["')\]»”’*_`]*\s+$/
const ABBREVIATION = /^\s*[*_]*\d{1,3}$|(?:^|[\s("'])(?:\p{L}\.)*\p{L}$/u
const HALF_OF_A_DAY = /[ap]\.?m$/i
const LAST_WORD = /(?<!\p{L})\p{L}+$/u
/** Abbreviations that do not end a sentence; some only before a number. */
const { titles, beforeNumbers } =
  readData<Record<'titles' | 'beforeNumbers', string[]>>('spoken-english.json')

/**
 * Splits a streamed answer into sentences, each emitted as soon as it has certainly ended.
 * Works character by character, so the result does not depend on how the text was split into tokens.
 */
export class SentenceSplitter {
  #current = ''

  /** The sentences completed by this piece. */
  push(token: string): string[] {
    return [...token].flatMap(character => {
      const end = this.#endBefore(character)
      const sentences = end === undefined ? [] : this.end(end)
      if (character !== '\n') this.#current += character
      return sentences
    })
  }

  /** What is left at the end of the stream, or up to this index. */
  end(index = this.#current.length): string[] {
    const sentence = this.#current.slice(0, index).trim()
    this.#current = this.#current.slice(index).trimStart()
    return sentence ? [sentence] : []
  }

  /** Where to cut before this character. */
  #endBefore(character: string): number | undefined {
    const { length } = this.#current
    if (character === '\n' || length >= LONGEST_WORD_CHARACTERS) return length
    if (!/\s/.test(character)) return endsSentence(this.#current, character) ? length : undefined
    if (length < LONG_SENTENCE_CHARACTERS) return undefined
    const clauses = [...this.#current.matchAll(/[,;:–—]\s/g)].map(({ index }) => index + 1)
    return clauses.findLast(end => end >= SHORT_CLAUSE_CHARACTERS) ?? length
  }
}

/** Whether a sentence ends between `text` and `next`, which is not a space. */
function endsSentence(text: string, next: string): boolean {
  const match = STOP_AND_SPACE.exec(text)
  if (!match) return false
  const [, stop = ''] = match
  if (/[!?]/.test(stop)) return true
  if (/^\p{Ll}/u.test(next)) return false
  if (stop !== '.') return true
  const before = text.slice(0, match.index)
  const word = LAST_WORD.exec(before)?.[0].toLowerCase() ?? ''
  const isTitle = titles.includes(word) || (beforeNumbers.includes(word) && /\d/.test(next))
  return !isTitle && (HALF_OF_A_DAY.test(before) || !ABBREVIATION.test(before))
}
