import { escapeControls } from '../../logging/safe-value.ts'
import type { Terminal } from '../terminal.ts'

const REDRAW_MS = 1_000
const CLEAR = '\r\x1b[2K'

/** Keeps a status line at the bottom of a terminal; all other output appears above it. Does nothing without a terminal. */
export function keepStatusLine({ err }: Terminal, text: () => string): { stop(): void } {
  if (!err.isTTY) return { stop: () => {} }
  const write = err.write.bind(err)
  const draw = () =>
    write(`${CLEAR}\x1b[90m${escapeControls(text()).slice(0, (err.columns || 80) - 1)}\x1b[0m`)
  err.write = ((...given: Parameters<typeof write>) => {
    write(CLEAR)
    const isTaken = write(...given)
    draw()
    return isTaken
  }) as typeof err.write
  const timer = setInterval(draw, REDRAW_MS)
  draw()
  return {
    stop: () => {
      clearInterval(timer)
      err.write = write
      write(CLEAR)
    },
  }
}
