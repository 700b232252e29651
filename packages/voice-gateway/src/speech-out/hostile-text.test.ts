import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outgrownAt } from '../../test/support/work-growth.ts'
import { SentenceSplitter } from './sentences.ts'
import { isCodeFence, speakable } from './speakable.ts'
import { spokenEnglish } from './spoken-english.ts'

const READERS = {
  speakable,
  spokenEnglish,
  isCodeFence,
  SentenceSplitter: (text: string) => {
    const splitter = new SentenceSplitter()
    splitter.push(text)
    splitter.end()
  },
}

const MARKS = [...'-=*_`~[]()<>|:#!?.,\'"\\&@/ \t\n\r\u2028\u00a0x1ä…→。😀']
const WORDS = [
  '```',
  '~~~',
  '<!--',
  '-->',
  '<b>',
  '](',
  '][',
  '://',
  'http://',
  'www.',
  '&nbsp;',
  'a.',
  ' | ',
  '1.',
  '9',
  '12:',
  'May ',
  '1 May ',
  '°C',
  'e.g.',
]
const pieces = fc.array(fc.constantFrom(...MARKS, ...WORDS), { maxLength: 3 }).map(some => some.join(''))

/** Something that is said again and again, between something at the beginning and something at the end. */
const kindsOfText = fc.record({
  begin: pieces,
  again: pieces.filter(piece => piece !== ''),
  end: pieces,
})
type KindOfText = typeof kindsOfText extends fc.Arbitrary<infer T> ? T : never

const textOf =
  ({ begin, again, end }: KindOfText) =>
  (length: number) =>
    begin + again.repeat(Math.ceil(length / again.length)) + end

describe.each(Object.entries(READERS))('%s, on a text that was made to keep it busy', (_name, read) => {
  it.each([
    ...MARKS.map(again => ({ begin: '', again, end: 'x' })),
    ...WORDS.map(again => ({ begin: '', again, end: 'x' })),
    { begin: '|', again: '-', end: 'x' },
    { begin: 'http://', again: '.', end: 'x' },
    { begin: '[', again: '[a](', end: '' },
    { begin: 'a', again: '<b>', end: '' },
    { begin: '', again: '\r```', end: '' },
  ])('takes time in proportion: $begin, then $again again and again, then $end', kind => {
    expect(outgrownAt(read, textOf(kind))).toBeUndefined()
  })

  it('takes time in proportion, whatever it is given', () => {
    const isInProportion = (kind: KindOfText) => outgrownAt(read, textOf(kind)) === undefined
    fc.assert(fc.property(kindsOfText, isInProportion), { numRuns: 60 })
  })
})
