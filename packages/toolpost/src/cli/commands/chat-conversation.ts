import { escapeControls } from '../../logging/safe-value.ts'
import type {
  AiClient,
  Answer,
  CallNotice,
  ConversationMessage,
  ModelStatus,
} from '../../models/ai-client.ts'
import { ModelError } from '../../models/model-error.ts'
import { whyUnanswered } from '../../models/why-unanswered.ts'
import type { ModelInfo } from '../../project/model-choice.ts'
import type { Ask } from '../../tools/caller.ts'
import { EXIT } from '../exit-codes.ts'
import { printResult, say, type Terminal } from '../terminal.ts'
import { AnswerPrinter } from './chat-printer.ts'

const INSTRUCTIONS =
  'You are the assistant of this home. Use the tools for what they can do or know, instead of guessing. ' +
  'Answer in one or two short sentences.'

export function modelLine({ name, why }: ModelInfo): string {
  return `Model: ${name} (${why})`
}

export interface Asking {
  signal: AbortSignal
  /** Asks the user, e.g. before something dangerous is done. */
  person: Ask
}

interface ChatSetup {
  client: AiClient
  model: ModelInfo
  timeLimitMs: number | undefined
  terminal: Terminal
  /** Print answers as JSON, one per line, instead of text. */
  json: boolean
}

/** A conversation with memory, which shows answers and calls as they arrive. */
export class ChatConversation {
  #messages: ConversationMessage[] = [{ role: 'system', content: INSTRUCTIONS }]
  #isLoading = false
  #setup: ChatSetup

  constructor(setup: ChatSetup) {
    this.#setup = setup
  }

  get model(): ModelInfo {
    return this.#setup.model
  }

  /** Switches to another model, which sees the conversation so far. */
  use(client: AiClient, model: ModelInfo): void {
    this.#setup = { ...this.#setup, client, model }
  }

  /** Asks, and prints the answer. Resolves to the exit code; only complete answers are added to the history. */
  async ask(question: string, { signal, person }: Asking): Promise<number> {
    const { client, terminal, timeLimitMs, json } = this.#setup
    const printer = new AnswerPrinter(terminal)
    const calls: object[] = []
    const startedAt = performance.now()
    const told = (answer: object) => {
      const durationMs = Math.round(performance.now() - startedAt)
      const facts = { model: this.model.name, durationMs, calls }
      if (json) printResult(terminal, JSON.stringify({ question, ...answer, ...facts }))
    }
    try {
      const answer = await client.ask([...this.#messages, { role: 'user', content: question }], {
        signal,
        timeLimitMs,
        origin: 'chat',
        ask: person,
        onToken: token => void (json || printer.add(token)),
        onCall: event => {
          if (event.type === 'end') calls.push({ ...event.call, result: event.result })
          this.#showCall(event, printer)
        },
        onStatus: status => this.#showStatus(status),
      })
      this.#messages = answer.messages
      const { text, stopReason, usage } = answer
      if (!json) printer.finish(text)
      told({ text, stopReason, ...(usage && { usage }) })
      return this.#judge(answer)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      printer.breakOff()
      if (this.#isLoading && terminal.err.isTTY) say(terminal, '')
      this.#isLoading = false
      told({ text: '', stopReason: error.code === 'stopped' ? 'stopped' : 'error', error: error.message })
      say(terminal, error.code === 'stopped' ? 'Stopped.' : `Error: ${error.message}`)
      return EXIT.failed
    }
  }

  #showCall(event: CallNotice, printer: AnswerPrinter): void {
    printer.breakOff()
    const { terminal } = this.#setup
    const { name, args } = event.call
    if (event.type === 'start') return say(terminal, `→ ${name} ${JSON.stringify(args)}`)
    const { result, durationMs } = event
    const outcome = result.success ? 'done' : `failed: ${result.error}`
    say(terminal, `← ${name} ${outcome} (${Math.round(durationMs)} ms)`)
  }

  /** Loading a model takes a while: reported once, or counted in seconds on a terminal. */
  #showStatus({ state, model, elapsedMs }: ModelStatus): void {
    const { terminal } = this.#setup
    const seconds = Math.round(elapsedMs / 1_000)
    const isCounted = terminal.err.isTTY === true
    if (isCounted) terminal.err.write('\r')
    if (state === 'loaded') say(terminal, `Loaded ${model} in ${seconds} s.`)
    else if (isCounted) terminal.err.write(escapeControls(`Loading ${model} … ${seconds} s`))
    else if (!this.#isLoading) say(terminal, `Loading ${model} …`)
    this.#isLoading = state === 'loading'
  }

  #judge(answer: Answer): number {
    const { model, terminal } = this.#setup
    const problem = whyUnanswered(answer)
    if (answer.stopReason !== 'answer') say(terminal, `The answer is incomplete: ${problem}.`)
    if (answer.text.trim() === '') say(terminal, 'The model gave no answer.')
    if (answer.iterations === 0 && !terminal.err.isTTY) say(terminal, modelLine(model))
    return problem === undefined ? EXIT.ok : EXIT.failed
  }
}
