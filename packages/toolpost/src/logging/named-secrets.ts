import { inBothCases, NAME_HINTS, namesASecret } from './secret-key.ts'

/*
 * Secrets with a name in a text: `"password": "x"`, `token=x`, `api key: x`, also in JSON inside JSON, where a quote
 * has one, three, seven… backslashes. Where an end is unclear, rather too much is removed. Takes linear time.
 */

const MAX_NAME = 200
const SEPARATOR = /[:=]=?>?(?:[\s*]|\\+[nrt])*/g
const QUOTES = '"\'`'
const NOT_IN_A_NAME = ' \t\r\n"\'`,;&?!(){}[]<>:=/|*#@'
/** To a blank, the end of a quotation or an element, or the next `&name=`. */
const BARE_VALUE = /(?:[^\s&"'`<]|(?<=\w\\{0,7})["'`](?=\w)|<(?!\/)|&(?![\w.%-]+=))*/y
const NOT_AT_THE_END = '\\,;.)}]'
const NAME_HINT = inBothCases(NAME_HINTS)
const HEADER_NAME = /authorization|cookie/i
const HEADER_VALUE = /(?:="[^"\r\n]*"|[^\r\n"'`]|(?<=\w\\{0,7})["'`](?=\w))*/y
const QUOTE_OR_BRACKET = /["'`{}[\]]/g
const ESCAPED_LETTER = /\\+u00([4-7][0-9a-f])/gi

interface Span {
  from: number
  to: number
  /** Whether the text itself says where the value ends, so that nothing in it is looked at again. */
  closed: boolean
}

/** `text` with the value of every secret name replaced. */
export function withoutNamedSecrets(text: string, replacement: string): string {
  let clean = ''
  let end = 0
  for (const { from, to } of secretSpans(text)) {
    if (to <= end) continue
    if (from > end || end === 0) clean += text.slice(end, from) + replacement
    end = to
  }
  return end === 0 ? text : clean + text.slice(end)
}

/** In order; one may begin in the bare value before it (`token=a,password: b`). */
function* secretSpans(text: string): Generator<Span> {
  let closedTo = 0
  let coveredTo = 0
  for (const { index, 0: separator } of text.matchAll(SEPARATOR)) {
    if (index < closedTo) continue
    const name = nameBefore(text, index)
    if (!NAME_HINT.test(name) || !namesASecret(name)) continue
    const span = valueAt(text, index + separator.length, name, coveredTo)
    if (span.to <= span.from) continue
    if (span.closed) closedTo = span.to
    coveredTo = Math.max(coveredTo, span.to)
    yield span
  }
}

/** The name that ends at a separator: what is in quotes, or a word, or two (`api key`). */
function nameBefore(text: string, separator: number): string {
  const before = text.slice(Math.max(0, separator - MAX_NAME), separator).trimEnd()
  const close = before.length - 1
  const name = isQuote(before, close) ? quotedName(before, close) : bareName(before)
  return name.includes('\\u') ? name.replace(ESCAPED_LETTER, decodeLetter) : name
}

function decodeLetter(_: string, code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16))
}

function quotedName(before: string, close: number): string {
  const level = levelOf(before, close)
  let open = close
  do open = open > 0 ? before.lastIndexOf(before.charAt(close), open - 1) : -1
  while (open !== -1 && levelOf(before, open) > level)
  return before.slice(open + 1, close - backslashesAt(level))
}

function bareName(before: string): string {
  const start = startOfWord(before, before.length)
  const word = before.slice(start)
  return /^keys?$/i.test(word) && before[start - 1] === ' '
    ? before.slice(startOfWord(before, start - 1))
    : word
}

function startOfWord(text: string, end: number): number {
  let start = end
  while (start > 0 && !NOT_IN_A_NAME.includes(text.charAt(start - 1))) start--
  return start
}

function valueAt(text: string, start: number, name: string, covered: number): Span {
  let first = start
  while (text[first] === '\\') first++
  if (isQuote(text, first)) return { from: first + 1, to: closingQuote(text, first), closed: true }
  if (text[start] === '{' || text[start] === '[')
    return { from: start, to: closingBracket(text, start), closed: true }
  if (HEADER_NAME.test(name)) return { from: start, to: endOf(HEADER_VALUE, text, start), closed: true }
  return { from: start, to: start < covered ? covered : endOf(BARE_VALUE, text, start), closed: false }
}

function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  let end = start + (pattern.exec(text)?.[0].length ?? 0)
  while (end > start && NOT_AT_THE_END.includes(text.charAt(end - 1))) end--
  return end
}

function closingQuote(text: string, open: number): number {
  const level = levelOf(text, open)
  let at = open
  do at = text.indexOf(text.charAt(open), at + 1)
  while (at !== -1 && levelOf(text, at) > level)
  return at === -1 ? text.length : at - backslashesAt(levelOf(text, at))
}

function closingBracket(text: string, open: number): number {
  let depth = 0
  QUOTE_OR_BRACKET.lastIndex = open
  for (let match = QUOTE_OR_BRACKET.exec(text); match; match = QUOTE_OR_BRACKET.exec(text)) {
    const at = match.index
    if (isQuote(text, at)) QUOTE_OR_BRACKET.lastIndex = afterQuote(text, at)
    else depth += match[0] === '{' || match[0] === '[' ? 1 : -1
    if (depth === 0) return at + 1
  }
  return text.length
}

function afterQuote(text: string, open: number): number {
  let close = closingQuote(text, open)
  while (text[close] === '\\') close++
  return close + 1
}

function isQuote(text: string, at: number): boolean {
  const character = text.charAt(at)
  return character !== '' && QUOTES.includes(character)
}

/**
 * In how many texts the quote at `at` is escaped. Each one doubles its backslashes and adds one, so a quote that
 * ends a text has as many trailing one-bits in their number as the quote that began it.
 */
function levelOf(text: string, at: number): number {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  let level = 0
  while ((backslashes >> level) & 1) level++
  return level
}

function backslashesAt(level: number): number {
  return 2 ** level - 1
}
