import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCodeFence, speakable } from './speakable.ts'

describe('speakable', () => {
  it.each([
    ['The **kitchen light** is _on_.', 'The kitchen light is on.'],
    ['# Heading\nText', 'Heading. Text'],
    ['- one\n- two\n* three', 'one. two. three'],
    ['- [x] done', 'done'],
    ['> quoted', 'quoted'],
    ['Call `control_zwave_device` now', 'Call control zwave device now'],
    ['See [the manual](https://example.com/a?b=c).', 'See the manual.'],
    ['![a lamp](lamp.png)', 'a lamp'],
    ['Look at https://www.example.com/path?x=1 please.', 'Look at example.com please.'],
    ['Look at <http://user:pass@example.org:8080/>', 'Look at example.org'],
    ['www.example.com', 'example.com'],
    ['Here:\n```js\nlet a = 1\n```\nDone.', 'Here: Done.'],
    ['```\nnever ended', ''],
    ['Here:\r\n\r\n```js\r\nlet a = 1\r\n```\r\nDone.', 'Here: Done.'],
    ['one\r\ntwo\rthree\u2028four', 'one. two. three. four'],
    ['a → b, c -> d', 'a to b, c to d'],
    ['It is 21 °C and 30 % humid.', 'It is 21 °C and 30 % humid.'],
    ['-5 °C outside', '-5 °C outside'],
    ['3 * 4 = 12', '3 times 4 = 12'],
    ['5 < 6 and 7 > 3', '5 < 6 and 7 > 3'],
    ['It is <b>on</b>', 'It is on'],
    ['Tom &amp; Jerry', 'Tom & Jerry'],
    ['on 😀👍🏽👨‍👩‍👧 🇩🇪 1️⃣', 'on 1'],
    ['a\u0000b\u001b[31mc\u200bd\u202e', 'a b [31mcd'],
    ['| room | state |\n|---|---|\n| bath | on |', 'room, state. bath, on'],
    ['snake_case and *star* \\*plain\\*', 'snake case and star plain'],
    ['lone \ud800 half', 'lone half'],
    ['grün, 21,5 und naïve 灯', 'grün, 21,5 und naïve 灯'],
    ['***', ''],
    ['---', ''],
    ['…?!', ''],
    ['🎉', ''],
    ['', ''],
  ])('says %j', (text, said) => {
    expect(speakable(text)).toBe(said)
  })

  it('leaves nothing that a voice cannot say, whatever it is given', () => {
    const marks = fc.constantFrom(
      '**',
      '`',
      '```\n',
      '[a](b)',
      '|',
      '\n',
      '# ',
      '- ',
      '<b>',
      'https://x.y/z ',
      'word ',
    )
    const texts = fc
      .array(fc.oneof(marks, fc.string({ unit: 'binary', maxLength: 5 })))
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(texts, text => {
        const said = speakable(text)
        expect(said).not.toMatch(/[\p{Cc}\p{Cs}*`]|\p{Extended_Pictographic}|https?:/u)
        expect(said).toBe(said.trim())
        expect(said === '' || /[\p{L}\p{N}]/u.test(said)).toBe(true)
      }),
    )
  })

  it('keeps plain words as they are', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-zäöüA-Z0-9]{1,8}$/), { minLength: 1 }), words => {
        expect(speakable(words.join(' '))).toBe(words.join(' '))
      }),
    )
  })
})

describe('isCodeFence', () => {
  it.each([
    ['```', true],
    ['  ```js', true],
    ['~~~', true],
    ['```inline```', false],
    ['`code`', false],
    ['text', false],
  ])('%j: %s', (line, fence) => {
    expect(isCodeFence(line)).toBe(fence)
  })
})
