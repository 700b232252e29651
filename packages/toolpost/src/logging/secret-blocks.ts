import { isKubernetesData, namesASecret } from './secret-names.ts'
import type { Span } from './secret-spans.ts'

/*
 * Secrets of more than one line: private keys, YAML blocks. A line may also end in an escaped `\n`, as in JSON.
 */

const LINE_END = '(?:\\r?\\n|(?:\\\\{1,7}r)?\\\\{1,7}n)'
const KEY_MARK = (word: string) => `-{4,5} ?${word} [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}`
export const BEGIN_OF_KEY = new RegExp(KEY_MARK('BEGIN'))
export const END_OF_KEY = new RegExp(KEY_MARK('END'))
const PRIVATE_KEY = new RegExp(`${KEY_MARK('BEGIN')}[\\s\\S]*?(?:${KEY_MARK('END')}|$)`, 'g')
/** The text begins inside a key. */
const REST_OF_KEY = new RegExp(`^[\\w+/=\\s\\\\]*${KEY_MARK('END')}`, 'g')
/** PuTTY: the stated number of lines and their checksum. */
const PUTTY_KEY = new RegExp(`Private-Lines: \\d{1,4}${LINE_END}[\\s\\S]*?(?:Private-MAC: ?\\w*|$)`, 'g')

/** `password: |`, or nothing after the name: the value is the more deeply indented lines below. */
const YAML_NAME =
  /(?:^|\n|\\n|["'])([ \t]*)(?:- )?["']?([\w.-]{1,100})["']?:[ \t]*(?=[|>][+-]?\d?[ \t]*(?:\r?\n|\\n)|\r?\n|\\n)/g
const YAML_STYLE = /(?:[|>][+-]?\d?[ \t]*)?/y
const YAML_LINE = /(?:\r?\n|\\n)([ \t]*)((?:[^\n\\]|\\(?!n))*)/y
/** `- name: DB_PASSWORD`, and its value on the next line. */
const YAML_PAIR =
  /((?:name|key):[ \t]{1,20}["']?([\w.-]{1,100})["']?[ \t]{0,20}(?:\r?\n|\\n)[ \t]{0,100}value:[ \t]{1,20})[^\s\\](?:[^\n\\]|\\(?!n))*/g

/** TOML's `password = """`, up to the closing quotes. */
const QUOTED_BLOCK =
  /((?:^|\n)[ \t]{0,100}([\w.-]{1,100})[ \t]{0,20}[=:][ \t]{0,20}("{3}|'{3}))(?:(?!\3)[\s\S])+/g

/** A part of multipart form data: `name="password"`, an empty line, and the value. */
const FORM_PART = new RegExp(
  `(\\bname=\\\\{0,7}["']([\\w.[\\]-]{1,100})\\\\{0,7}["']${LINE_END}${LINE_END})(?:(?!${LINE_END}--)[\\s\\S])+`,
  'g',
)

export function blockSpans(text: string): Span[] {
  const spans: Span[] = []
  if (text.includes('PRIVATE KEY'))
    for (const pattern of [REST_OF_KEY, PRIVATE_KEY]) spans.push(...wholeMatches(text, pattern))
  if (text.includes('Private-Lines')) spans.push(...wholeMatches(text, PUTTY_KEY))
  if (text.includes('form-data')) spans.push(...namedMatches(text, FORM_PART, 2))
  if (/:[ \t]*(?:[|>][^\n\\]{0,20})?(?:\n|\r\n|\\n)[ \t]+\S/.test(text)) spans.push(...yamlSpans(text))
  if (/"{3}|'{3}/.test(text)) spans.push(...namedMatches(text, QUOTED_BLOCK, 2))
  if (/value:/.test(text)) spans.push(...namedMatches(text, YAML_PAIR, 2))
  return spans
}

function* wholeMatches(text: string, pattern: RegExp): Generator<Span> {
  for (const { index, 0: all } of text.matchAll(pattern)) yield { from: index, to: index + all.length }
}

/** Whatever follows the first group, if the group `nameAt` names a secret. */
function* namedMatches(text: string, pattern: RegExp, nameAt: number): Generator<Span> {
  for (const match of text.matchAll(pattern))
    if (namesASecret(match[nameAt] ?? ''))
      yield { from: match.index + (match[1] ?? '').length, to: match.index + match[0].length }
}

function* yamlSpans(text: string): Generator<Span> {
  for (const { index, 0: all, 1: indent = '', 2: name = '' } of text.matchAll(YAML_NAME)) {
    if (!namesASecret(name) && !isKubernetesData(name, text, index)) continue
    const from = index + all.length
    const to = endOfBlock(text, from, indent.length)
    if (to > from) yield { from: from + leadingBlanks(text.slice(from, to)), to }
  }
}

function endOfBlock(text: string, start: number, indent: number): number {
  YAML_STYLE.lastIndex = start
  let end = start
  YAML_LINE.lastIndex = start + (YAML_STYLE.exec(text)?.[0].length ?? 0)
  for (let line = YAML_LINE.exec(text); line; line = YAML_LINE.exec(text)) {
    const [all, blanks = '', words = ''] = line
    if (words !== '' && blanks.length <= indent) break
    if (words !== '') end = line.index + all.length
  }
  return end
}

function leadingBlanks(text: string): number {
  return /^(?:\s|\\n)*/.exec(text)?.[0].length ?? 0
}
