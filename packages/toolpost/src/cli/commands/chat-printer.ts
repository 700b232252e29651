import { printResult, type Terminal } from '../terminal.ts'

/** On a terminal the answer appears as it is generated; elsewhere it is printed when complete. */
export class AnswerPrinter {
  readonly #terminal: Terminal
  #shown = ''

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  add(token: string): void {
    if (!this.#terminal.out.isTTY) return
    this.#shown += token
    this.#terminal.out.write(printable(token))
  }

  /** Ends the line of a text that was not the answer. */
  breakOff(): void {
    if (this.#shown !== '') this.#terminal.out.write('\n')
    this.#shown = ''
  }

  finish(text: string): void {
    if (this.#shown !== '' && this.#shown.trim() === text.trim()) return this.breakOff()
    this.breakOff()
    if (text.trim() !== '') printResult(this.#terminal, text)
  }
}

/** A model must not be able to move the cursor. */
function printable(token: string): string {
  return token.replace(/[^\P{Cc}\n\t]/gu, '')
}
