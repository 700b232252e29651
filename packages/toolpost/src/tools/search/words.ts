import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/package-root.ts'
import { foldWord } from '../local/documents/words.ts'
import { stem } from './stem.ts'

/** Words that say nothing about what a tool does. */
const FILLERS = new Set(
  `a an and any are as at be been being but by can could did do does doing every everything for from give had has have
  he help her here him his how i if in into is it its just let like many me much my need of on or our out over please
  really she should so some somebody someone something that the their them then there these they thing this those to
  tool us use want was we were what when where which who whom whose why will with would you your`.split(
    /\s+/,
  ),
)

/** `listOpenIssues_v2` → list open issues v2. */
export function splitWords(text: string): string[] {
  return isPlain(text) ? plainWords(text) : anyWords(text)
}

/** Whether all letters are ASCII; any dashes and quotes are fine. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127 && (code < 0x2000 || code > 0x2bff)) return false
  }
  return true
}

const OTHER = 0
const LOWER = 1
const UPPER = 2

/** Digits count as lower case. */
function kindOf(code: number): number {
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) return LOWER
  return code >= 65 && code <= 90 ? UPPER : OTHER
}

/** Hand-written for speed: ten thousand tools have millions of words. */
function plainWords(text: string): string[] {
  const words: string[] = []
  let start = 0
  let before = OTHER
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? kindOf(text.charCodeAt(at)) : OTHER
    // Before `I` in `openIssues`, and before `R` in `HTTPResponse`.
    const isStart = kind === UPPER && (before === LOWER || isFollowedByLetter(text, at))
    if (before !== OTHER && (kind === OTHER || isStart)) words.push(text.slice(start, at))
    if (before === OTHER || kind === OTHER || isStart) start = at
    before = kind
  }
  return words
}

function isFollowedByLetter(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1)
  return next >= 97 && next <= 122
}

function anyWords(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/** A cache: most words recur. */
const terms = new Map<string, string>()
const MAX_TERMS = 20_000

/** The form of a word under which it is indexed. */
export function termOf(word: string): string {
  let term = terms.get(word)
  if (term === undefined) {
    term = stem(foldWord(word))
    if (terms.size >= MAX_TERMS) terms.clear()
    terms.set(word, term)
  }
  return term
}

/** The words of a query that say what is wanted; all of them if none does. */
export function wantedWords(query: string): string[] {
  const words = splitWords(withMeanings(query))
  const kept = words.filter(word => !FILLERS.has(foldWord(word)))
  return kept.length > 0 ? kept : words
}

function linesOf(file: string): string[] {
  return readFileSync(join(packageRoot(), 'data', file), 'utf8')
    .trim()
    .split(/\r?\n/)
}

/** Multi-word phrases, and the words that tools use for them. */
let phrases: string[][] | undefined

/** `get rid of it` → delete remove it. */
function withMeanings(query: string): string {
  let text = ` ${splitWords(query).join(' ').toLowerCase()} `
  phrases ??= linesOf('phrases.txt').map(line => line.split(': '))
  for (const [phrase, meaning] of phrases) text = text.replaceAll(` ${phrase} `, ` ${meaning} `)
  return text
}

let synonyms: Map<string, Set<string>> | undefined

/** Words that people and tool authors use interchangeably: one line per meaning in the file. */
function readSynonyms(): Map<string, Set<string>> {
  const related = new Map<string, Set<string>>()
  for (const terms of linesOf('synonyms.txt').map(line => line.split(' ').map(termOf)))
    for (const term of terms) {
      const others = related.get(term) ?? new Set()
      for (const other of terms) if (other !== term) others.add(other)
      related.set(term, others)
    }
  return related
}

/** Words that say little about what a tool does, unless nothing else does. */
const LIGHT = new Set(
  `again already also another any anything call come first five four get give go good got just keep know last let look
  lot make need new next now old one only open other own page people put right say see set show some something start
  still take tell thing three time today try two use way work`
    .split(/\s+/)
    .map(termOf),
)

export function isLight(term: string): boolean {
  return LIGHT.has(term)
}

/** Terms that mean about the same. */
export function relatedTerms(term: string): Iterable<string> {
  synonyms ??= readSynonyms()
  return synonyms.get(term) ?? []
}
