import { RE2JS } from 're2js'

interface Pattern {
  test(text: string): boolean
  toString(): string
}

type PatternCompiler = ((pattern: string, flags: string) => Pattern) & { code: string }

/**
 * Compiles patterns for an engine that takes linear time in the text, so that no schema can stall the process. A pattern
 * that the engine cannot express is left to the tool and reported to `onLeftOut`.
 */
export function linearPatterns(onLeftOut: (pattern: string) => void): PatternCompiler {
  const compile = (pattern: string): Pattern => {
    // Ajv tells patterns apart by their text, so each needs its own.
    const name = () => `/${pattern}/`
    try {
      const engine = compiled(pattern)
      return { test: text => engine.test(text), toString: name }
    } catch {
      onLeftOut(pattern)
      return { test: () => true, toString: name }
    }
  }
  return Object.assign(compile, { code: 'linearPatterns' })
}

function compiled(pattern: string): RE2JS {
  const translated = spelledOut(translate(pattern), token => SPACES[token])
  try {
    return RE2JS.compile(translated)
  } catch (error) {
    const withoutNames = spelledOut(translated, unicodeRangesOf)
    if (withoutNames === translated) throw error
    return RE2JS.compile(withoutNames)
  }
}

const HIGH_AND_LOW = /\\x\{(d[89ab]..)\}\\x\{(d[c-f]..)\}/gi

/** In the engine's syntax. Its own translation drops `\k`, and leaves the two halves of a character apart. */
function translate(pattern: string): string {
  for (const [token] of pattern.matchAll(/\\[\s\S]/g))
    if (token === '\\k') throw new Error('Backreferences take more than linear time')
  return RE2JS.translateRegExp(pattern).replace(HIGH_AND_LOW, (_pair, high, low) => {
    const code = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0)
    return `\\x{${code?.toString(16)}}`
  })
}

/** The engine's `\s` is ASCII only; JSON Schema's includes Unicode whitespace. */
const SPACES: Readonly<Record<string, string>> = {
  '\\s':
    '\\x{20}\\x{a0}\\x{1680}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}\\x{9}-\\x{d}\\x{2000}-\\x{200a}',
  '\\S':
    '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}',
}

/** Expands escapes into character ranges if `rangesOf` knows them. */
function spelledOut(pattern: string, rangesOf: (token: string) => string | undefined): string {
  let inClass = false
  return pattern.replace(/\\[pP]\{[^{}]*\}|\\[\s\S]|[[\]]/g, token => {
    if (token === '[') inClass = true
    else if (token === ']') inClass = false
    const ranges = rangesOf(token)
    if (ranges === undefined) return token
    return inClass ? ranges : `[${ranges}]`
  })
}

/** The engine supports few Unicode class names (`\p{L}`, not `\p{Letter}`): others are expanded into ranges. */
function unicodeRangesOf(token: string): string | undefined {
  const [, kind, name] = /^\\([pP])\{(.*)\}$/.exec(token) ?? []
  return name === undefined ? undefined : unicodeRanges(name, kind === 'P')
}

const knownRanges = new Map<string, string>()

/** The characters of a Unicode property, as the inside of a character class. Throws if there is no such property. */
function unicodeRanges(name: string, isNegated: boolean): string {
  const source = `\\${isNegated ? 'P' : 'p'}{${name}}`
  const before = knownRanges.get(source)
  if (before !== undefined) return before
  const runs = searchedCharacters().matchAll(new RegExp(`${source}+`, 'gu'))
  const ranges = Array.from(runs, run => {
    const [first, last] = [codesAt(run.index).first, codesAt(run.index + run[0].length - 1).last]
    return `\\x{${first.toString(16)}}-\\x{${last.toString(16)}}`
  }).join('')
  knownRanges.set(source, ranges)
  return ranges
}

interface Codes {
  first: number
  last: number
}

/** Every character of these is searched, without surrogates … */
const LOW_PLANES: Codes = { first: 0, last: 0x3ffff }
const TAGS: Codes = { first: 0xe0000, last: 0xe0fff }
/** … and one of each of these, which are unassigned or for private use as a whole. */
const UNIFORM: readonly Codes[] = [
  { first: 0x40000, last: 0xdffff },
  { first: 0xe1000, last: 0xeffff },
  { first: 0xf0000, last: 0xffffd },
  { first: 0xffffe, last: 0xfffff },
  { first: 0x100000, last: 0x10fffd },
  { first: 0x10fffe, last: 0x10ffff },
]
const SURROGATES = { first: 0xd800, count: 0x800 }
let characters: string | undefined

/** Characters in order: one search over them is ten times as fast as testing each. */
function searchedCharacters(): string {
  if (characters) return characters
  const low = Array.from({ length: 0x10000 }, (_, code) => code)
  low.splice(SURROGATES.first, SURROGATES.count)
  const parts = [Buffer.from(Uint16Array.from(low).buffer).toString('utf16le')]
  for (let code = 0x10000; code <= LOW_PLANES.last; code++) parts.push(String.fromCodePoint(code))
  const [beforeTags, ...afterTags] = UNIFORM.map(({ first }) => String.fromCodePoint(first))
  parts.push(beforeTags ?? '')
  for (let code = TAGS.first; code <= TAGS.last; code++) parts.push(String.fromCodePoint(code))
  characters = [...parts, ...afterTags].join('')
  return characters
}

/** The code points that an index of `searchedCharacters` stands for. */
function codesAt(index: number): Codes {
  const low = 0x10000 - SURROGATES.count
  if (index < SURROGATES.first) return only(index)
  if (index < low) return only(index + SURROGATES.count)
  const code = 0x10000 + Math.floor((index - low) / 2)
  if (code <= LOW_PLANES.last) return only(code)
  const beyond = code - LOW_PLANES.last - 1
  const tags = TAGS.last - TAGS.first + 1
  if (beyond >= 1 && beyond <= tags) return only(TAGS.first + beyond - 1)
  return UNIFORM[beyond === 0 ? 0 : beyond - tags] as Codes
}

const only = (code: number): Codes => ({ first: code, last: code })
