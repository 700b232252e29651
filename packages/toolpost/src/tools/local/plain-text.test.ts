import { describe, expect, it } from 'vitest'
import { plainText } from './plain-text.ts'

describe('plainText', () => {
  it.each([
    ['<b>Tokyo</b> &amp; <i class="x">Kyoto</i>', 'Tokyo & Kyoto'],
    ['one<br/>two\n\n three', 'one two three'],
    ['&lt;script&gt; is a tag', '<script> is a tag'],
    ['&amp;lt; stays an entity', '&lt; stays an entity'],
    ['it&#39;s &#x201C;quoted&#x201D;', "it's “quoted”"],
    ['<b>Tokyo</b>, Japan', 'Tokyo, Japan'],
    ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['&unknown; &constructor; &#9999999;', '&unknown; &constructor; &#9999999;'],
  ])('makes %j readable', (html, text) => {
    expect(plainText(html)).toBe(text)
  })

  it.each([undefined, null, 7, {}, []])('has nothing to say about %j', value => {
    expect(plainText(value)).toBe('')
  })
})
