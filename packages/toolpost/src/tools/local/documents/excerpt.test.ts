import { describe, expect, it } from 'vitest'
import { excerptAround } from './excerpt.ts'

const filler = 'lorem ipsum dolor '.repeat(40)

describe('excerptAround', () => {
  it('gives a short text whole, in one line', () => {
    expect(excerptAround('one\n\ntwo   three', ['two'])).toBe('one two three')
  })

  it('shows about 300 characters around the match, cut at words', () => {
    const excerpt = excerptAround(`${filler}the Boiler shows E9 ${filler}`, ['boiler'])
    expect(excerpt).toContain('the Boiler shows E9')
    expect(excerpt.length).toBeLessThan(310)
    expect(excerpt).toMatch(/^…(?:lorem|ipsum|dolor) .* (?:lorem|ipsum|dolor)…$/)
  })

  it('prefers the place where most of the words stand together', () => {
    const text = `the boiler ${filler} the boiler has lost its pressure ${filler}`
    expect(excerptAround(text, ['boiler', 'pressure'])).toContain('has lost its pressure')
  })

  it('starts at the beginning where no word is in the text', () => {
    expect(excerptAround(filler, ['heading'])).toMatch(/^lorem .*…$/)
  })

  it('finds words whatever their accents', () => {
    expect(excerptAround(`${filler} die Müllabfuhr kommt ${filler}`, ['mullabfuhr'])).toContain('Müllabfuhr')
  })

  it('shows the end of a text without a gap behind it', () => {
    expect(excerptAround(`${filler} finally`, ['finally'])).toMatch(/^….* finally$/)
  })
})
