import { RE2JS } from 're2js'

interface Pattern {
  test(text: string): boolean
  toString(): string
}

type PatternCompiler = ((pattern: string, flags: string) => Pattern) & { code: string }

/**
 * Compiles patterns for an engine whose time grows with the text and not with the pattern, so that no schema
 * can stall the process. A pattern that the engine cannot express is left to the tool, and `onLeftOut` told.
 */
export function linearPatterns(onLeftOut: (pattern: string) => void): PatternCompiler {
  const compile = (pattern: string): Pattern => {
    // Ajv tells patterns apart by their text: each must have its own.
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
  const translated = RE2JS.translateRegExp(pattern)
  try {
    return RE2JS.compile(translated)
  } catch (error) {
    const spelledOut = withUnicodeRanges(translated)
    if (spelledOut === translated) throw error
    return RE2JS.compile(spelledOut)
  }
}

/** The engine knows few names of Unicode classes (`\p{L}`, not `\p{Letter}`): the others become ranges. */
function withUnicodeRanges(pattern: string): string {
  let inClass = false
  return pattern.replace(/\\([pP])\{([^{}]*)\}|\\[\s\S]|[[\]]/g, (token, kind?: string, name?: string) => {
    if (token === '[') inClass = true
    else if (token === ']') inClass = false
    if (name === undefined) return token
    const ranges = unicodeRanges(name, kind === 'P')
    return inClass ? ranges : `[${ranges}]`
  })
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

/** Beyond the third plane there is nothing that a schema asks for. */
const LAST_SCANNED = '3ffff'
const SURROGATES = { first: 0xd800, count: 0x800 }
let characters: string | undefined

/** All characters in order, without the surrogates: one search over them is ten times as quick as one test for each. */
function allCharacters(): string {
  if (characters) return characters
  const low = Array.from({ length: 0x10000 }, (_, code) => code)
  low.splice(SURROGATES.first, SURROGATES.count)
  const parts = [Buffer.from(Uint16Array.from(low).buffer).toString('utf16le')]
  for (let code = 0x10000; code < 0x40000; code++) parts.push(String.fromCodePoint(code))
  characters = parts.join('')
  return characters
}

/** The character at a place of `allCharacters`, in hexadecimal. */
function codeAt(index: number): string {
  if (index < SURROGATES.first) return index.toString(16)
  const low = 0x10000 - SURROGATES.count
  return (index < low ? index + SURROGATES.count : 0x10000 + Math.floor((index - low) / 2)).toString(16)
}
