import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Terminal } from '../terminal.ts'
import { keepStatusLine } from './status-line.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const err = { isTTY, columns: 20, write: (text: string) => written.push(text) > 0 }
  return { written, terminal: { out: err, err } as unknown as Terminal }
}

describe('the status line', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is one line that is kept up to date, as wide as the terminal and without control characters', () => {
    const { terminal: shown, written } = terminal(true)
    let calls = 0
    const line = keepStatusLine(shown, () => `${calls++} calls \u001b[2J and so on`)
    vi.advanceTimersByTime(1_000)
    line.stop()
    expect(written).toEqual([
      '\r\x1b[2K\x1b[90m0 calls \\u001b[2J a\x1b[0m',
      '\r\x1b[2K\x1b[90m1 calls \\u001b[2J a\x1b[0m',
      '\r\x1b[2K',
    ])
  })

  it('stays below all other output', () => {
    const { terminal: shown, written } = terminal(true)
    const line = keepStatusLine(shown, () => 'status')
    shown.err.write('news\n')
    expect(written.slice(1)).toEqual(['\r\x1b[2K', 'news\n', '\r\x1b[2K\x1b[90mstatus\x1b[0m'])
    line.stop()
    shown.err.write('more\n')
    expect(written.slice(-2)).toEqual(['\r\x1b[2K', 'more\n'])
  })

  it('does not exist without a terminal', () => {
    const { terminal: shown, written } = terminal(false)
    keepStatusLine(shown, () => 'status').stop()
    expect(written).toEqual([])
  })
})
