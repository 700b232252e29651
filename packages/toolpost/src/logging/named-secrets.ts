import { isKubernetesData, namesASecret } from './secret-names.ts'
import { merged, type Span } from './secret-spans.ts'

/*
 * Named secrets in a text: `"password": "x"`, `token=x`, `api key: x`, including JSON inside JSON, where a quote has
 * one, three, seven… backslashes. If the end is unclear, too much is removed rather than too little. Takes linear time.
 */

const MAX_NAME = 200
const SEPARATOR = /(?:[:=：＝]=?>?|(?<=\s)(?:->|→)(?=\s))(?:[\s*]|\\+[nrt])*/g
const QUOTES = '"\'`'
const NOT_IN_A_NAME = ' \t\r\n"\'`,;&?!(){}[]<>:=/|*#@'
/** Up to whitespace, a closing quote, a closing tag, or the next `&name=`. */
const BARE_VALUE = /(?:[^\s&"'`<]|(?<=\w\\{0,7})["'`](?=\w)|<(?!\/)|&(?![\w.%-]+=))*/y
const NOT_AT_THE_END = '\\,;.)}]'
/** `{"name": "password", "value": "x"}`: the name is next to the value, within `PAIR_REACH` characters. */
const PAIR_VALUE = /^(?:val|value|v|content|default)$/i
const PAIR_NAME =
  /\b(?:name|key|k|header|field|label|id|type|element|param|parameter|variable)\\{0,7}["']?\s{0,20}[:=]\s{0,20}\\{0,7}["']?([\w .-]{1,60})/gi
const PAIR_REACH = 300
/** Values that mean "no secret". */
const NO_SECRET = /^(?:true|false|null|none|undefined)$/i
const HEADER_NAME = /authorization|cookie|^creds?$|credentials$/i
const HEADER_VALUE = /(?:=\\{0,7}"[^"\r\n]*"|[^\r\n"'`]|(?<=\w\\{0,7})["'`](?=\w))*/y
const QUOTE_OR_BRACKET = /["'`{}[\]]/g
const ESCAPED_LETTER = /(?<!\\)\\+u00([4-7][0-9a-f])/gi

interface Value extends Span {
  /** Whether the text itself marks the end of the value, so that nothing inside it is searched again. */
  closed: boolean
}

/** Where `text` has the values of secret names. */
export function namedSpans(text: string): Span[] {
  return merged(secretValues(text))
}

/** In order; one may begin inside the bare value before it (`token=a,password: b`). */
function* secretValues(text: string): Generator<Value> {
  let closedTo = 0
  let coveredTo = 0
  for (const { index, 0: separator } of text.matchAll(SEPARATOR)) {
    if (index < closedTo) continue
    const name = nameBefore(text, index)
    if (!namesASecret(name) && !isTold(text, index, name)) continue
    const span = valueAt(text, index + separator.length, name, coveredTo)
    if (span.to <= span.from || isNoSecret(text, span, { name, separator, index })) continue
    if (span.closed) closedTo = span.to
    coveredTo = Math.max(coveredTo, span.to)
    yield span
  }
}

/** Reports a status: `token: passed`, `authorization: denied by policy`. */
const STATUS =
  /^(?:passed|failed|denied|granted|allowed|refused|accepted|rejected|valid|invalid|expired|missing|required|present|absent|ok|okay|yes|no|not|unknown|empty|set|unset|refreshed|revoked|renewed|enabled|disabled|wrong|incorrect|changed|updated|must|should|cannot|is|was|has)(?![\w-])/i
/** Found in sentences, not in secrets. */
const SENTENCE =
  /^[A-Z]?[a-z'-]{1,30},? (?:[a-z'-]{1,30},? ){0,8}?(?:a|an|the|by|with|for|from|of|to|in|on|at|is|was|are|not|has|and|or)(?![\w=-])/
const SECRET_WORDS = /pass|pwd|pin|phrase|mnemonic|kennwort/i

/** Whether a bare value is a word or a sentence after something that only happens to have the name of a secret. */
function isNoSecret(
  text: string,
  { from, to, closed }: Value,
  { name, separator, index }: { name: string; separator: string; index: number },
): boolean {
  if (NO_SECRET.test(text.slice(from, Math.min(to, from + 10)))) return true
  const isProse = /^: /.test(separator) && !isQuote(text, index - 1) && !isQuote(text, from - 1)
  if (!isProse || (closed && !HEADER_NAME.test(name))) return false
  const words = text.slice(from, from + MAX_NAME)
  if (/signature$/i.test(name) && /^[\w.]{1,60}\(/.test(words)) return true
  return STATUS.test(words) || (!SECRET_WORDS.test(name) && SENTENCE.test(words))
}

/** Whether the context says that the value of a name is a secret. */
function isTold(text: string, index: number, name: string): boolean {
  return (PAIR_VALUE.test(name) && isPaired(text, index)) || isKubernetesData(name, text, index)
}

/** Whether the object around the value at `index` contains a secret name. */
function isPaired(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - PAIR_REACH), index)
  const after = text.slice(index, index + PAIR_REACH)
  const begin = Math.max(before.lastIndexOf('{'), before.lastIndexOf('<'), before.lastIndexOf('}'))
  const end = after.search(/[}>{]/)
  const around = before.slice(begin + 1) + (end < 0 ? after : after.slice(0, end))
  return [...around.matchAll(PAIR_NAME)].some(([, name = '']) => namesASecret(name))
}

/** The name before a separator: a quoted text, or one or two words (`api key`). */
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
  const level = backslashesBefore(before, close)
  let open = close
  do open = open > 0 ? before.lastIndexOf(before.charAt(close), open - 1) : -1
  while (open !== -1 && backslashesBefore(before, open) > level)
  return before.slice(open + 1, close - level)
}

function bareName(before: string): string {
  const start = startOfWord(before, before.length)
  const word = before.slice(start)
  return /^(?:key|phrase|code|word)s?$/i.test(word) && before[start - 1] === ' '
    ? before.slice(startOfWord(before, start - 1))
    : word
}

function startOfWord(text: string, end: number): number {
  let start = end
  while (start > 0 && !NOT_IN_A_NAME.includes(text.charAt(start - 1))) start--
  return start
}

/** May precede the value: a YAML tag or anchor, a shell's `$`. */
const BEFORE_VALUE = /(?:[!&][\w!/.-]{1,40}[ \t]{1,20})?(?:\$(?=["']))?/y

function valueAt(text: string, separatorEnd: number, name: string, covered: number): Value {
  BEFORE_VALUE.lastIndex = separatorEnd
  const start = separatorEnd + (BEFORE_VALUE.exec(text)?.[0].length ?? 0)
  let first = start
  while (text[first] === '\\') first++
  if (isQuote(text, first)) return quotedValue(text, start, first)
  if (text[start] === '{' || text[start] === '[')
    return { from: start, to: closingBracket(text, start), closed: true }
  if (HEADER_NAME.test(name)) return { from: start, to: endOf(HEADER_VALUE, text, start), closed: true }
  const around = quoteAround(text, separatorEnd, name)
  if (around > 0) return { from: start, to: closingQuote(text, around), closed: true }
  return { from: start, to: start < covered ? covered : endOf(BARE_VALUE, text, start), closed: false }
}

function quotedValue(text: string, start: number, open: number): Value {
  const three = text.slice(start, open + 1).repeat(3)
  if (!text.startsWith(three, start)) return { from: open + 1, to: closingQuote(text, open), closed: true }
  const from = start + three.length
  const end = text.indexOf(three, from)
  return { from, to: end < 0 ? text.length : end, closed: true }
}

/** The position of the quote in a shell's `"DB_PASSWORD=two words"`; 0 if the text does not have this form. */
function quoteAround(text: string, valueStart: number, name: string): number {
  const quote = valueStart - name.length - 2
  const isVariable = /^[A-Z][A-Z\d_]+$/.test(name) && text[valueStart - 1] === '='
  return isVariable && isQuote(text, quote) ? quote : 0
}

function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  let end = start + (pattern.exec(text)?.[0].length ?? 0)
  while (end > start && NOT_AT_THE_END.includes(text.charAt(end - 1))) end--
  return end
}

/** The next quote with no more backslashes. If the value itself ends in a backslash, that is one quote too far. */
function closingQuote(text: string, open: number): number {
  const level = backslashesBefore(text, open)
  let at = open
  do at = text.indexOf(text.charAt(open), at + 1)
  while (at !== -1 && backslashesBefore(text, at) > level)
  return at === -1 ? text.length : at - backslashesBefore(text, at)
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

function backslashesBefore(text: string, at: number): number {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  return backslashes
}
