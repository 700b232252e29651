import { createInterface, type Interface } from 'node:readline'
import type { Answer, Ask, Question } from '../executor/options.ts'
import { say, type Terminal } from './terminal.ts'

const NO_TERMINAL =
  "there is no terminal to ask at; allow it with a rule in 'policy' of toolpost.json, or run it on a terminal"

/** What the person types: on a conversation's own lines, or on lines of one's own. */
interface Keyboard {
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
  lines?: Interface
}

/** Asks the person at the terminal, one question at a time; y or yes is a yes. Without a terminal, the answer is no. */
export function askAtTerminal(terminal: Terminal, { input = process.stdin, lines }: Keyboard = {}): Ask {
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (question: Question): Promise<Answer> => {
    const own = lines ?? createInterface({ input, output: terminal.err })
    try {
      return await askOn(own, question, terminal)
    } finally {
      if (!lines) own.close()
    }
  }
  return question => {
    if (!input.isTTY || !terminal.err.isTTY)
      return Promise.resolve({ action: 'decline', reason: NO_TERMINAL })
    const answer = last.then(() => ask(question))
    last = answer
    return answer
  }
}

function askOn(lines: Interface, { message, signal }: Question, terminal: Terminal): Promise<Answer> {
  return new Promise(resolve => {
    const giveUp = () => resolve({ action: 'cancel' })
    if (signal?.aborted) return giveUp()
    signal?.addEventListener('abort', giveUp, { once: true })
    lines.once('close', giveUp)
    say(terminal, message)
    lines.question('[y/N] ', { signal }, answer =>
      resolve({ action: /^\s*y(es)?\s*$/i.test(answer) ? 'accept' : 'decline' }),
    )
  })
}
