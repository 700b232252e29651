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
  const translated = spelledOut(RE2JS.translateRegExp(pattern), token => SPACES[token])
  try {
    return RE2JS.compile(translated)
  } catch (error) {
    const withoutNames = spelledOut(translated, unicodeRangesOf)
    if (withoutNames === translated) throw error
    return RE2JS.compile(withoutNames)
  }
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
  const runs = allCharacters().matchAll(new RegExp(`${source}+`, 'gu'))
  const ranges = Array.from(runs, run => {
    const [first, last] = [run.index, run.index + run[0].length - 1].map(codeAt)
    return `\\x{${first}}-\\x{${last === LAST_SCANNED && isNegated ? '10ffff' : last}}`
  }).join('')
  knownRanges.set(source, ranges)
  return ranges
}

/** No schema asks for anything beyond the third plane. */
const LAST_SCANNED = '3ffff'
const SURROGATES = { first: 0xd800, count: 0x800 }
let characters: string | undefined

/** All characters in order, without surrogates: one search over them is ten times as fast as testing each. */
function allCharacters(): string {
  if (characters) return characters
  const low = Array.from({ length: 0x10000 }, (_, code) => code)
  low.splice(SURROGATES.first, SURROGATES.count)
  const parts = [Buffer.from(Uint16Array.from(low).buffer).toString('utf16le')]
  for (let code = 0x10000; code < 0x40000; code++) parts.push(String.fromCodePoint(code))
  characters = parts.join('')
  return characters
}

/** The code point at an index of `allCharacters`, in hexadecimal. */
function codeAt(index: number): string {
  if (index < SURROGATES.first) return index.toString(16)
  const low = 0x10000 - SURROGATES.count
  return (index < low ? index + SURROGATES.count : 0x10000 + Math.floor((index - low) / 2)).toString(16)
}
