import { createInterface, type Interface } from 'node:readline'
import { fieldsOf, type QuestionField } from './question-fields.ts'
import { fillForm } from './terminal-form.ts'
import { type AskedTerminal, readLine, type Typed } from './terminal-lines.ts'

export type { AskedTerminal }

interface Asked {
  message: string
  /** Set if the question is whether a call may run; otherwise a tool or its server asks for information. */
  about?: unknown
  server?: string | undefined
  schema?: object | undefined
  url?: string | undefined
  check?: ((content: Record<string, unknown>, field?: string) => Promise<string | undefined>) | undefined
  secretFields?: readonly string[] | undefined
  signal?: AbortSignal | undefined
}

interface Answered {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
  reason?: string
}

const NO_TERMINAL = 'there is no terminal to ask at'
const WAY_TO_ALLOW = "; allow it with a rule in 'policy' of toolpost.json, or run it in a terminal"

/** Asks the person at the terminal, one question at a time. Without a terminal, the answer is no. */
export function askAtTerminal(terminal: AskedTerminal): (question: Asked) => Promise<Answered> {
  const { input = process.stdin, output, lines } = terminal
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (question: Asked): Promise<Answered> => {
    const own = lines ?? createInterface({ input, output })
    try {
      return await new TerminalQuestion(question, terminal, own).ask()
    } finally {
      if (!lines) own.close()
    }
  }
  return question => {
    if (!input.isTTY || !output.isTTY) return Promise.resolve(nobody(question, terminal))
    const answer = last.then(() => ask(question))
    // A question that fails must not answer those that wait behind it.
    last = answer.catch(() => {})
    return answer
  }
}

/** A denied call gives the reason in its result; a declined question from a server has to be reported here. */
function nobody(question: Asked, { say }: AskedTerminal): Answered {
  if (question.about !== undefined || question.server === undefined)
    return { action: 'decline', reason: `${NO_TERMINAL}${WAY_TO_ALLOW}` }
  const [first = ''] = question.message.split('\n', 1)
  say(
    `${question.server} asked a question, which was declined because ${NO_TERMINAL}: ${first.slice(0, 200)}`,
  )
  return { action: 'decline', reason: NO_TERMINAL }
}

class TerminalQuestion {
  readonly #question: Asked
  readonly #terminal: AskedTerminal
  readonly #lines: Interface

  constructor(question: Asked, terminal: AskedTerminal, lines: Interface) {
    this.#question = question
    this.#terminal = terminal
    this.#lines = lines
  }

  ask(): Promise<Answered> {
    const { about, message, server, schema, url } = this.#question
    const { say } = this.#terminal
    if (this.#question.signal?.aborted) return Promise.resolve({ action: 'cancel' })
    say(server === undefined ? message : `${server} asks: ${message}`)
    if (url !== undefined) return this.#visit(url)
    const fields = schema && fieldsOf(schema)
    if (schema && !fields) return this.#decline('This form cannot be filled in at a terminal.')
    if (fields && fields.length > 0) return this.#form(fields)
    return this.#yesOrNo(about === undefined ? 'cancel' : 'decline')
  }

  /** Closing the terminal denies a call, but only cancels a server's question. */
  async #yesOrNo(left: 'decline' | 'cancel'): Promise<Answered> {
    const typed = await this.#read('[y/N] ')
    if ('text' in typed) return { action: /^\s*y(es)?\s*$/i.test(typed.text) ? 'accept' : 'decline' }
    if (typed.ended === 'aborted' || left === 'cancel') return { action: 'cancel' }
    return { action: 'decline', reason: 'the question was not answered' }
  }

  #visit(url: string): Promise<Answered> {
    const { say } = this.#terminal
    say(`  ${url}`)
    if (!URL.canParse(url)) return this.#decline('This is not a valid URL.')
    say(`This page belongs to ${new URL(url).host}, not to Toolpost. Open it in a browser if you trust it.`)
    say('Did you open it?')
    return this.#yesOrNo('cancel')
  }

  #form(fields: readonly QuestionField[]): Promise<Answered> {
    const { secretFields = [], check } = this.#question
    const secret = fields.filter(({ name }) => secretFields.includes(name))
    const names = secret.map(({ title }) => title).join(', ')
    const refused = `Servers must not ask for secrets this way; skipped: ${names}.`
    if (secret.some(({ isRequired }) => isRequired)) return this.#decline(refused)
    if (secret.length > 0) this.#terminal.say(refused)
    return fillForm(
      fields.filter(field => !secret.includes(field)),
      {
        say: this.#terminal.say,
        read: prompt => this.#read(prompt),
        check: async (content, field) => check?.(content, field),
      },
    )
  }

  async #decline(reason: string): Promise<Answered> {
    this.#terminal.say(`${reason} It was declined.`)
    return { action: 'decline', reason }
  }

  #read(prompt: string): Promise<Typed> {
    const { input = process.stdin } = this.#terminal
    return readLine(this.#lines, prompt, { input, signal: this.#question.signal })
  }
}
