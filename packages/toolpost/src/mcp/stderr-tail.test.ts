import { describe, expect, it } from 'vitest'
import { lastLines, StderrTail } from './stderr-tail.ts'

function tailOf(texts: string[], { secrets = [] as string[], keptBytes = 1_000 } = {}) {
  const tail = new StderrTail(secrets, keptBytes)
  for (const text of texts) tail.push(Buffer.from(text))
  return tail.text()
}

describe('StderrTail', () => {
  it('keeps everything while it is little', () => {
    expect(tailOf(['one\n', 'two\r\n', 'three'])).toBe('one\ntwo\nthree')
    expect(tailOf([])).toBe('')
  })

  it('keeps the end, from a whole line on', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `line ${at}\n`)
    for (const texts of [lines, [lines.join('')]]) {
      const text = tailOf(texts, { keptBytes: 100 })
      expect(text).toMatch(/^line 4\d\d\n[\s\S]*\nline 499$/)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100)
    }
  })

  it('[F34] removes secrets, also one that was cut in half', () => {
    const secret = 'top-secret-value'
    expect(tailOf([`key is ${secret}\nnext`], { secrets: [secret] })).toBe('key is [removed]\nnext')
    for (let keptBytes = 1; keptBytes < 40; keptBytes++) {
      const text = tailOf([`${'x'.repeat(100)}${secret} and more`], { secrets: [secret], keptBytes })
      expect(text).not.toMatch(/secret|value/)
    }
    expect(tailOf(['postgres://me:letmein@db/x Bearer zyxwvu12345'])).toBe(
      'postgres://[removed]@db/x [removed]',
    )
  })

  it('[F34] removes a private key of many lines, also one that was cut in half', () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'abcd\n'.repeat(20)}-----END RSA PRIVATE KEY-----`
    expect(tailOf([`before\n${key}\nafter`])).toBe('before\n[removed]\nafter')
    expect(tailOf([`before\n${key}\nafter`], { keptBytes: 80 })).toBe('[removed]\nafter')
  })

  it('[F33] shows control characters instead of obeying them', () => {
    expect(tailOf(['\u001b[31mred\u0007\n'])).toBe('\\u001b[31mred\\u0007')
  })
})

describe('lastLines', () => {
  it('cuts at a line', () => {
    expect(lastLines('one\ntwo\nthree', 100)).toBe('one\ntwo\nthree')
    expect(lastLines('one\ntwo\nthree', 8)).toBe('… three')
  })
})
