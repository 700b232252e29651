import { safeText } from '../logging/safe-value.ts'
import type { Progress } from '../tools/tool.ts'
import { say, type Terminal } from './terminal.ts'

const BAR = 20
const MAX_MESSAGE = 200

/** The progress of a call on stderr: on a terminal one line that is overwritten, elsewhere a line per update. */
export class ProgressLine {
  readonly #terminal: Terminal
  #last = ''

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(progress: Progress): void {
    const text = progressText(progress)
    if (text === this.#last) return
    this.#last = text
    const { err } = this.#terminal
    if (!err.isTTY) return say(this.#terminal, text)
    err.write(`\r\x1b[K${text.slice(0, (err.columns ?? 80) - 1)}`)
  }

  /** Leaves the terminal as it was. */
  end(): void {
    const { err } = this.#terminal
    if (this.#last !== '' && err.isTTY) err.write('\r\x1b[K')
  }
}

/** `[██████░░░░░░] 50 % copying`. */
function progressText({ progress, total, message }: Progress): string {
  const words = message === undefined ? '' : safeText(message, MAX_MESSAGE)
  if (total === undefined || !(total > 0)) return `… ${words || progress}`.trimEnd()
  const share = Math.min(1, Math.max(0, progress / total))
  const full = Math.round(share * BAR)
  return `[${'█'.repeat(full)}${'░'.repeat(BAR - full)}] ${Math.round(share * 100)} % ${words}`.trimEnd()
}
