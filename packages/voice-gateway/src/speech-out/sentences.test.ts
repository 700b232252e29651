import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SentenceSplitter } from './sentences.ts'

function split(...tokens: string[]): string[] {
  const splitter = new SentenceSplitter()
  return [...tokens.flatMap(token => splitter.push(token)), ...splitter.end()]
}

const words = (text: string) => text.split(/\s+/).filter(Boolean)

function cut(text: string, sizes: number[]): string[] {
  const [size, ...rest] = sizes
  return size === undefined ? [text] : [text.slice(0, size), ...cut(text.slice(size), rest)]
}

/** Text as answers are: full of stops, numbers, marks and line ends. */
const answers = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '. ',
          '.',
          '! ',
          '?',
          '… ',
          '\n',
          ', ',
          ' ',
          '"',
          ')',
          '**',
          '。',
          '3. ',
          '21.5',
          'Dr. ',
          'e.g. ',
        ],
        ...[
          'www.example.com ',
          'Then ',
          'then ',
          '😀',
          '𝒶',
          'p.m. ',
          '\r\n',
          'a long clause that goes on and on, ',
        ],
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
    { maxLength: 60 },
  )
  .map(parts => parts.join(''))

describe('SentenceSplitter', () => {
  it.each([
    [
      'The light is on. It is warm! Anything else? No.',
      ['The light is on.', 'It is warm!', 'Anything else?', 'No.'],
    ],
    ['It is 21.5 degrees. Nice.', ['It is 21.5 degrees.', 'Nice.']],
    ['Ask Dr. Smith. He knows.', ['Ask Dr. Smith.', 'He knows.']],
    ['Use a lamp, e.g. The Big One. Or none.', ['Use a lamp, e.g. The Big One.', 'Or none.']],
    ['1. Turn it on.\n2. Wait.', ['1. Turn it on.', '2. Wait.']],
    ['See www.example.com for more. Bye.', ['See www.example.com for more.', 'Bye.']],
    ['Well… maybe… Yes… No', ['Well… maybe…', 'Yes…', 'No']],
    ['One line\nanother line\r\n\r\nthird', ['One line', 'another line', 'third']],
    ['It is 21. The lamp is on floor 3. Fine.', ['It is 21.', 'The lamp is on floor 3.', 'Fine.']],
    ['He said "Stop." Then he left.', ['He said "Stop."', 'Then he left.']],
    ['"Really?" he asked. Yes.', ['"Really?" he asked.', 'Yes.']],
    ['It is 5 p.m. The blinds close.', ['It is 5 p.m.', 'The blinds close.']],
    ['No. I will not. See No. 5 there.', ['No.', 'I will not.', 'See No. 5 there.']],
    ['**Done.** The lamp is on.', ['**Done.**', 'The lamp is on.']],
    ['灯开了。温度是二十一度。', ['灯开了。', '温度是二十一度。']],
    ['', []],
    [' \n\n ', []],
  ])('cuts %j', (text, sentences) => {
    expect(split(text)).toEqual(sentences)
  })

  it('gives a sentence as soon as the next one begins', () => {
    const splitter = new SentenceSplitter()
    expect(splitter.push('The light is on.')).toEqual([])
    expect(splitter.push(' ')).toEqual([])
    expect(splitter.push('T')).toEqual(['The light is on.'])
    expect(splitter.push('he heating\n')).toEqual(['The heating'])
    expect(splitter.end()).toEqual([])
  })

  it('cuts a long sentence at a comma, else at a space', () => {
    const clause = 'the lamp in the hall is on and the one in the bath is off'
    const [first = '', ...rest] = split(Array(6).fill(clause).join(', '))
    expect(first).toBe(`${[clause, clause, clause].join(', ')},`)
    expect(rest).not.toEqual([])
    const pieces = split('word '.repeat(200))
    expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThan(210)
  })

  it('does not wait forever for the end of a word', () => {
    const pieces = split('x'.repeat(5_000))
    expect(pieces.join('')).toBe('x'.repeat(5_000))
    expect(Math.max(...pieces.map(piece => piece.length))).toBe(1_000)
  })

  it('gives the same sentences however the text is cut into tokens, and loses no word', () => {
    fc.assert(
      fc.property(answers, fc.array(fc.nat(20), { maxLength: 40 }), (text, sizes) => {
        const whole = split(text)
        const tokens = cut(text, sizes)
        expect(split(...tokens)).toEqual(whole)
        expect(split(...text.split(''))).toEqual(whole)
        expect(whole.join('').replace(/\s+/g, '')).toBe(words(text).join(''))
        expect(whole.every(sentence => sentence.trim() === sentence && sentence)).toBe(true)
      }),
    )
  })
})
