import { createInterface, type Interface } from 'node:readline'

/** Where the person is. */
export interface AskedTerminal {
  /** Shows a line to the person. */
  say(text: string): void
  output: NodeJS.WritableStream & { isTTY?: boolean }
  /** What the person types; standard input if left out. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
  /** The lines of a conversation that is held there already. */
  lines?: Interface
}

interface Asked {
  message: string
  signal?: AbortSignal | undefined
}

interface Answered {
  action: 'accept' | 'decline' | 'cancel'
  reason?: string
}

const NO_TERMINAL =
  "there is no terminal to ask at; allow it with a rule in 'policy' of toolpost.json, or run it on a terminal"

/** Asks the person at the terminal, one question at a time; y or yes is a yes. Without a terminal, the answer is no. */
export function askAtTerminal(terminal: AskedTerminal): (question: Asked) => Promise<Answered> {
  const { input = process.stdin, output, lines } = terminal
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (question: Asked): Promise<Answered> => {
    const own = lines ?? createInterface({ input, output })
    try {
      return await askOn(own, question, terminal)
    } finally {
      if (!lines) own.close()
    }
  }
  return question => {
    if (!input.isTTY || !output.isTTY) return Promise.resolve({ action: 'decline', reason: NO_TERMINAL })
    const answer = last.then(() => ask(question))
    last = answer
    return answer
  }
}

/** Whoever closes the terminal has said no: there is nobody else to ask. */
function askOn(lines: Interface, { message, signal }: Asked, terminal: AskedTerminal): Promise<Answered> {
  return new Promise(resolve => {
    const end = (answered: Answered) => {
      signal?.removeEventListener('abort', giveUp)
      lines.off('close', closed)
      resolve(answered)
    }
    const giveUp = () => end({ action: 'cancel' })
    const closed = () => end({ action: 'decline', reason: 'the question was not answered' })
    if (signal?.aborted) return giveUp()
    signal?.addEventListener('abort', giveUp, { once: true })
    lines.once('close', closed)
    terminal.say(message)
    lines.question('[y/N] ', { signal }, answer =>
      end({ action: /^\s*y(es)?\s*$/i.test(answer) ? 'accept' : 'decline' }),
    )
  })
}
