import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { root, sourceFiles } from './project.ts'

/*
 * No pattern of ours backtracks: each runs against the inputs that would make it, and its time must grow with the text.
 * What foreign text can reach is not told apart from what it cannot: a pattern that is safe today is used elsewhere tomorrow.
 */

const product = sourceFiles(/packages\/[^/]+\/src\/.*\.tsx?$/).filter(file => !/\.test\.tsx?$/.test(file))

interface Found {
  file: string
  pattern: RegExp
}

/** Every pattern that is written as a literal, found in the code without its types and comments. */
function literalsOf(file: string): Found[] {
  const { code } = transformSync(readFileSync(join(root, file), 'utf8'), {
    loader: file.endsWith('x') ? 'tsx' : 'ts',
    jsx: 'automatic',
    legalComments: 'none',
  })
  return literalsIn(code).map(({ source, flags }) => ({ file, pattern: new RegExp(source, flags) }))
}

const BEFORE_LITERAL = /(?:^|[([{,;=:?!&|+\-*%<>~^\n]|\b(?:return|typeof|case|in|of|throw|else|do))$/
const LITERAL = /\/((?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+)\/([dgimsuvy]*)/y
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\/[^\n]*|\/\*[\s\S]*?\*\//y

function literalsIn(code: string): { source: string; flags: string }[] {
  const found: { source: string; flags: string }[] = []
  for (let at = 0; at < code.length; at++) {
    STRING.lastIndex = LITERAL.lastIndex = at
    const string = STRING.exec(code)
    if (string) {
      at += string[0].length - 1
      continue
    }
    if (code[at] !== '/' || !BEFORE_LITERAL.test(code.slice(Math.max(0, at - 10), at).trimEnd())) continue
    const literal = LITERAL.exec(code)
    if (!literal) continue
    found.push({ source: literal[1] as string, flags: literal[2] as string })
    at += literal[0].length - 1
  }
  return found
}

/** Every pattern that a module builds out of parts when it is loaded, such as those that find secrets. */
async function builtPatterns(): Promise<Found[]> {
  const builders = product.filter(file => /new RegExp\(/.test(readFileSync(join(root, file), 'utf8')))
  const built: Found[] = []
  const BuiltIn = globalThis.RegExp
  globalThis.RegExp = new Proxy(BuiltIn, {
    construct(target, given: [string, string?]) {
      const pattern = new target(...given)
      const [, file] = /(packages\/[^/]+\/src\/[\w./-]+)/.exec(new Error().stack?.split('\n')[2] ?? '') ?? []
      if (file) built.push({ file, pattern })
      return pattern
    },
  })
  try {
    for (const file of builders) await import(join(root, file))
  } finally {
    globalThis.RegExp = BuiltIn
  }
  return built
}

const TOKEN =
  /\\[pPu]\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\.|\[(?:[^\\\]]|\\.)*\]|\(\?(?:<?[=!]|:|<[^>]*>)|[()|*+?^$]|\{\d+,?\d*\}|./gsu
const POOL = [...'a0 \n"\'\\`A_-.,:;/<>{}[]()|=@#%é!\t*']

/** Characters that the parts of a pattern match, in the order of the parts. */
function samplesOf({ source, flags }: RegExp): string[] {
  return [...source.matchAll(TOKEN)].flatMap(([token]) => {
    if (/^(?:\(.*|[)|*+?^$]|\{\d+,?\d*\}|\\[bB])$/s.test(token)) return []
    const matches = new RegExp(`^(?:${token})$`, flags.replace(/[gy]/g, ''))
    return POOL.concat(token).find(character => character.length === 1 && matches.test(character)) ?? []
  })
}

/** Texts of about `length` that lead into a loop of the pattern, keep it there and then disappoint it. */
function* worstInputs(pattern: RegExp, length: number): Generator<string> {
  const samples = samplesOf(pattern)
  const characters = [...new Set([...samples, ' ', '\n'])].slice(0, 10)
  const pumps = characters.flatMap(one => [
    one,
    ...characters.filter(two => two !== one).map(two => one + two),
  ])
  const step = Math.max(1, Math.ceil(samples.length / 6))
  for (let end = 0; end <= samples.length; end += step) {
    const prefix = samples.slice(0, end).join('')
    for (const pump of pumps) yield `${prefix}${pump.repeat(length / pump.length)}\u0000`
  }
}

function fastestOf(runs: number, pattern: RegExp, input: string): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run++) {
    pattern.lastIndex = 0
    const before = performance.now()
    pattern.exec(input)
    fastest = Math.min(fastest, performance.now() - before)
  }
  return fastest
}

/** Lengths, and more time than a text of that length needs; short ones first, because a pattern may never end. */
const LENGTHS: [number, number][] = [
  ...[14, 18, 22, 60, 150, 400].map((length): [number, number] => [length, 4]),
  [1_200, 6],
  [6_000, 8],
]

function slowInput(pattern: RegExp): string | undefined {
  for (const [length, limitMs] of LENGTHS) {
    for (const input of worstInputs(pattern, length)) {
      if (fastestOf(1, pattern, input) > limitMs && fastestOf(5, pattern, input) > limitMs)
        return `${JSON.stringify(input.slice(0, 40))} … ${length}`
    }
  }
  return undefined
}

describe('patterns', async () => {
  const built = await builtPatterns()
  const patterns = [...product.flatMap(literalsOf), ...built]

  it('are found, also those that are built out of parts', () => {
    expect(patterns.length).toBeGreaterThan(100)
    const files = built.map(({ file }) => file.split('/').at(-1))
    expect(files).toEqual(
      expect.arrayContaining(['secret-formats.ts', 'secret-blocks.ts', 'secret-commands.ts', 'units.ts']),
    )
    expect(literalsIn('a / b / c; x = /[/]\\/"/g; "/no/"; f(/y/)').map(({ source }) => source)).toEqual([
      '[/]\\/"',
      'y',
    ])
  })

  it.each([
    '^(a|a)*$',
    '\\s+$',
    '^\\s*```(?:json)?\\s*\\n([\\s\\S]*?)\\n?\\s*```\\s*$',
    '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"',
  ])('[F47] that backtrack are recognised: %s', source => {
    expect(slowInput(new RegExp(source))).toBeDefined()
  })

  it('[F47] take time that grows with the text, not faster', { timeout: 120_000 }, () => {
    const slow = patterns.flatMap(({ file, pattern }) => {
      const input = slowInput(pattern)
      return input === undefined ? [] : [`${file}: ${pattern} on ${input}`]
    })
    expect(slow).toEqual([])
  })
})
