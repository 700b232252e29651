import { describe, expect, it } from 'vitest'
import { oneLine, visibleText } from './visible-text.ts'

describe('text of a tool', () => {
  it('[F33] shows terminal escapes and other control characters instead of obeying them', () => {
    expect(visibleText('\u001b[31mred\u001b[0m\u0007\u009b')).toBe('\\x1b[31mred\\x1b[0m\\x07\\x9b')
    expect(visibleText('a\r\nb\tc\rd')).toBe('a\nb\tc\\x0dd')
  })

  it('[F33] shows marks that turn the direction of the text', () => {
    expect(visibleText('invoice\u202efdp.exe \u061c')).toBe('invoice\\u202efdp.exe \\u061c')
  })

  it('[F33] shows what is invisible, and leaves joined emoji and Persian alone', () => {
    expect(visibleText('a\u200bb\u{e0041}\ud800')).toBe('a\\u200bb\\u{e0041}\\ud800')
    expect(visibleText('👨‍👩‍👧 می‌خواهم')).toBe('👨‍👩‍👧 می‌خواهم')
  })

  it('[F33] stays on one line if there is only one line for it', () => {
    expect(oneLine('a\nb\tc')).toBe('a\\nb\\tc')
    expect(oneLine('x'.repeat(1_000), 10)).toBe(`${'x'.repeat(9)}…`)
  })
})
