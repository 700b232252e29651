import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern } from './pattern.ts'

/** Patterns of every part that is supported, put together at random. */
const atoms = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\d',
  '\\w',
  '\\s',
  '\\.',
  '[\\w.-]',
  '\\u0061',
  '🙂',
  '\\p{L}',
  '\\b',
]
const { pattern } = fc.letrec<{ pattern: string; part: string }>(tie => ({
  part: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...atoms) },
    fc
      .tuple(
        fc.constantFrom('(?:', '(', '(?<n>'),
        tie('pattern'),
        fc.constantFrom(')', ')*', '){0,2}', ')+?'),
      )
      .map(all => all.join('')),
    fc
      .tuple(
        fc.constantFrom('a', '[ab]', '.', '🙂'),
        fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,3}', '*?'),
      )
      .map(all => all.join('')),
  ),
  pattern: fc
    .tuple(
      fc.constantFrom('', '', '^'),
      fc.array(tie('part'), { maxLength: 4 }).map(parts => parts.join('')),
      fc.constantFrom('', '', '$', '|a', '|'),
    )
    .map(all => all.join('')),
}))

function native(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u')
  } catch {
    return undefined
  }
}

describe('a pattern of a schema', () => {
  it('matches what the engine of the browser matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '0', ' ', '.', '🙂', '\n'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, text, (source, sample) => {
        const expected = native(source)
        const matcher = compilePattern(source)
        expect(matcher === undefined).toBe(expected === undefined)
        expect(matcher?.(sample)).toBe(expected?.test(sample))
      }),
      { numRuns: 400 },
    )
  })

  it.each([
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[a-z0-9]+(?:[._-][a-z0-9]+)*@[a-z]+\\.[a-z]{2,}$',
    '^(on|off|dim)$',
    '^#[0-9A-F]{6}$',
  ])('such as people write is supported: %s', source => {
    const samples = ['2026-11-16', 'ada@example.org', 'on', '#00FF7F', 'x', '']
    for (const sample of samples)
      expect(compilePattern(source)?.(sample)).toBe(new RegExp(source, 'u').test(sample))
  })

  it.each(['(?=a)a', '(?<!b)a', '(a)\\1', '(?<x>a)\\k<x>', 'a{5000}', '(', '[', 'x'.repeat(3_000)])(
    'that needs a memory, or is none, is left to the gateway: %s',
    source => expect(compilePattern(source)).toBeUndefined(),
  )

  it('[F26] that never ends elsewhere ends here', () => {
    for (const source of ['^(a|a)*$', '^(a+)+$', '(.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$'])
      expect(compilePattern(source)?.(`${'a'.repeat(2_000)}!`)).toBe(false)
    expect(compilePattern('^(a|a)*$')?.('a'.repeat(10_000_000))).toBeUndefined()
  })
})
