import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'
import { root, sourceFiles } from './project.ts'

/*
 * None of our patterns backtracks: each runs on inputs that would provoke it, and its time must grow linearly with the text.
 * Patterns that untrusted text cannot reach are included: a pattern that is safe today is used elsewhere tomorrow.
 */

const product = sourceFiles(/packages\/[^/]+\/src\/.*\.tsx?$/).filter(file => !/\.test\.tsx?$/.test(file))

interface Found {
  file: string
  pattern: RegExp
}

/** Every pattern written as a literal. */
function literalsOf(file: string): Found[] {
  const { code } = transformSync(readFileSync(join(root, file), 'utf8'), {
    loader: file.endsWith('x') ? 'tsx' : 'ts',
    jsx: 'automatic',
  })
  return literalsIn(code).map(pattern => ({ file, pattern }))
}

function literalsIn(code: string): RegExp[] {
  const found: RegExp[] = []
  const visit = (node: object) => {
    const { regex } = node as { regex?: { pattern: string; flags: string } }
    if (regex) found.push(new RegExp(regex.pattern, regex.flags))
    for (const inner of Object.values(node)) if (typeof inner === 'object' && inner) visit(inner)
  }
  visit(parseAst(code))
  return found
}

const builders = product.filter(file => /\bRegExp\(/.test(readFileSync(join(root, file), 'utf8')))

/** Files that build a pattern only on demand, and why it needs no test here. */
const BUILT_LATER = new Set([
  // From a quote; from the literal next to it; from a Unicode class, run on our own list of characters.
  'packages/toolpost/src/executor/json-text.ts',
  'packages/console/src/views/chat/example-questions.ts',
  'packages/toolpost/src/schema/patterns.ts',
  // To check that it is valid, never run; or run on a single character.
  'packages/toolpost/src/models/fitting/rules.ts',
  'packages/console/src/schema/pattern-parser.ts',
  // For the linear engine.
  'packages/toolpost/src/tools/results/read-part-child.ts',
])

/** Every pattern that a module builds, on loading or when it learns more, such as those that find secrets. */
async function builtPatterns(): Promise<Found[]> {
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
    const { removeFromLogs, safeText, treatAsSecret } = await import(
      '../packages/toolpost/src/logging/safe-value.ts'
    )
    removeFromLogs(['aaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaaaaaaaa.*aaaaaaaaa', '(a+)+$(a+)+$(a+)+$'])
    treatAsSecret(['a_a_a_a_a', 'door code'])
    safeText('aaaaaaaaaaaaaaaaaaaaaaaa')
  } finally {
    globalThis.RegExp = BuiltIn
  }
  return built
}

const TOKEN =
  /\\[pPu]\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\.|\[(?:[^\\\]]|\\.)*\]|\(\?(?:<?[=!]|:|<[^>]*>)|[()|*+?^$]|\{\d+,?\d*\}|./gsu
const POOL = [...'a0 \n"\'\\`A_-.,:;/<>{}[]()|=@#%é!\t*']

/** A character that each part of a pattern matches, in the order of the parts. */
function samplesOf({ source, flags }: RegExp): string[] {
  return [...source.matchAll(TOKEN)].flatMap(([token]) => {
    if (/^(?:\(.*|[)|*+?^$]|\{\d+,?\d*\}|\\[bB])$/s.test(token)) return []
    const matches = new RegExp(`^(?:${token})$`, flags.replace(/[gy]/g, ''))
    return POOL.concat(token).find(character => character.length === 1 && matches.test(character)) ?? []
  })
}

/** Ends that make a loop fail: at least one of them is not among its characters. */
const ENDS = ['\u0000', '\n']

/** Texts of about `length` that lead into a loop of the pattern, keep it there and then fail to match. */
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
    // Its own beginning, repeated: each repetition is another place to start from.
    for (const pump of prefix.length > 2 ? [...pumps, prefix] : pumps)
      for (const last of ENDS) yield `${prefix}${pump.repeat(length / pump.length)}${last}`
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

/** Lengths with generous time limits in ms; short ones first, because a pattern may never end. */
const LENGTHS: [number, number][] = [
  ...[14, 18, 22, 60, 150, 400].map((length): [number, number] => [length, 4]),
  [1_200, 6],
  [6_000, 8],
]

/** Distinct patterns with repetition: the others read every character a few times at most. */
function loopsOf(patterns: Found[]): Found[] {
  const loops = patterns.filter(({ pattern }) => /[*+{]/.test(pattern.source))
  return [...new Map(loops.map(found => [String(found.pattern), found])).values()]
}

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

  it('are found in every package, including those that are built', () => {
    const packages = new Set(patterns.map(({ file }) => file.split('/')[1]))
    expect([...packages].sort()).toEqual([...new Set(product.map(file => file.split('/')[1]))].sort())
    const seen = new Set(built.map(({ file }) => file))
    expect(builders.filter(file => !seen.has(file) && !BUILT_LATER.has(file))).toEqual([])
    const code = 'a / b / c; x = /[/]\\/"/g; "/no/"; `it\'s ${f(/y/)}`'
    expect(literalsIn(code).map(({ source }) => source)).toEqual(['[/]\\/"', 'y'])
  })

  it.each([
    '^(a|a)*$',
    '\\s+$',
    '^\\s*```(?:json)?\\s*\\n([\\s\\S]*?)\\n?\\s*```\\s*$',
    '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"',
    '--(\\S+)[ =]*(\\S+)*$',
    '\\*\\*(.+?)\\*\\*(.+?)!',
  ])('[F47] that backtrack are detected: %s', source => {
    const pattern = new RegExp(source)
    expect(loopsOf([{ file: 'any', pattern }])).toHaveLength(1)
    expect(slowInput(pattern)).toBeDefined()
  })

  it('[F47] take no more than linear time', { timeout: 120_000 }, () => {
    const slow = loopsOf(patterns).flatMap(({ file, pattern }) => {
      const input = slowInput(pattern)
      return input === undefined ? [] : [`${file}: ${pattern} on ${input}`]
    })
    expect(slow).toEqual([])
  })
})
