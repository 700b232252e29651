import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sentencesOf } from './sentences.ts'

describe('an answer that is read aloud', () => {
  it('comes in sentences', () => {
    expect(sentencesOf('It is 21.5 degrees. The light is on!\n\nAnything else?')).toEqual([
      'It is 21.5 degrees.',
      'The light is on!',
      'Anything else?',
    ])
  })

  it('is without the marks that are there for the eye', () => {
    expect(sentencesOf('## **Kitchen** `living_room`\n---\n')).toEqual(['Kitchen living room ---'])
    expect(sentencesOf('…  \n*')).toEqual([])
  })

  it('loses no letter, whatever it is', () => {
    const letters = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.join('') ?? ''
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        expect(letters(sentencesOf(text).join(''))).toBe(letters(text))
      }),
    )
  })
})
