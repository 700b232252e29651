import { createInterface, type Interface } from 'node:readline'
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
import type { Project } from '../../project/project.ts'
import type { Ask } from '../../tools/caller.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { Stopped, type StopSignals, unlessStopped } from '../stop-signals.ts'
import { askingAt, say, type Terminal } from '../terminal.ts'
import { timeoutOf } from '../timeout-flag.ts'
import { AnswerPrinter } from './chat-printer.ts'

export interface ChatFlags {
  /** `ollama:<model>`, `anthropic:<model>` or `offline`. */
  model?: string
  /** Milliseconds for one answer. */
  timeout?: string
}

export interface ChatTerminal extends Terminal {
  /** Where questions come from; standard input if left out. */
  in?: NodeJS.ReadableStream & { isTTY?: boolean }
}

/** What a chat needs of its context. */
export interface ChatContext {
  project: Pick<Project, 'client' | 'model' | 'ready'>
  terminal: ChatTerminal
  stop: Pick<StopSignals, 'signal'>
}

const INSTRUCTIONS =
  'You are the assistant of this home. Use the tools for what they can do or know, instead of guessing. ' +
  'Answer in one or two short sentences.'
const HELP = 'Ask a question, or type exit. Press Ctrl-C to stop an answer.'

/** `toolpost chat [question]`: answers a question or every line of a pipe, or holds a conversation on a terminal. */
export async function chat(
  { project, terminal, stop: { signal } }: ChatContext,
  question: string | undefined,
  flags: ChatFlags,
): Promise<number> {
  const input = terminal.in ?? process.stdin
  const timeLimitMs = timeoutOf(flags)
  if (question !== undefined) checkQuestion(question)
  const model = await unlessStopped(choose(project), signal)
  const conversation = new ChatConversation({ client: project.client, model, timeLimitMs, terminal })
  if (question === undefined && input.isTTY) {
    // Side by side with the first question.
    void project.ready()
    return converse(conversation, { ...terminal, in: input }, signal)
  }
  if (terminal.err.isTTY) say(terminal, modelLine(model))
  const asking = { signal, person: askingAt(terminal, { input }) }
  return question === undefined
    ? answerLines(conversation, input, asking)
    : conversation.ask(question, asking)
}

function modelLine({ name, why }: ModelInfo): string {
  return `Model: ${name} (${why})`
}

function checkQuestion(question: string): void {
  if (question.trim() === '') throw new UsageError('The question is empty: toolpost chat "what time is it"')
}

/** A model that is unavailable is a mistake of the command line or the configuration. */
async function choose(project: ChatContext['project']): Promise<ModelInfo> {
  try {
    return await project.model()
  } catch (error) {
    throw error instanceof ModelError ? new UsageError(error.message) : error
  }
}

interface Asking {
  signal: AbortSignal
  /** Answers before something dangerous is done. */
  person: Ask
}

interface ChatSetup {
  client: AiClient
  model: ModelInfo
  timeLimitMs: number | undefined
  terminal: Terminal
}

/** A conversation that remembers, and shows answers and calls as they come. */
class ChatConversation {
  #messages: ConversationMessage[] = [{ role: 'system', content: INSTRUCTIONS }]
  #isLoading = false
  readonly #setup: ChatSetup

  constructor(setup: ChatSetup) {
    this.#setup = setup
  }

  get model(): ModelInfo {
    return this.#setup.model
  }

  /** Asks, and prints the answer. Gives the exit code that it deserves; the history grows only by whole answers. */
  async ask(question: string, { signal, person }: Asking): Promise<number> {
    const { client, terminal, timeLimitMs } = this.#setup
    const printer = new AnswerPrinter(terminal)
    try {
      const answer = await client.ask([...this.#messages, { role: 'user', content: question }], {
        signal,
        timeLimitMs,
        origin: 'chat',
        ask: person,
        onToken: token => printer.add(token),
        onCall: event => this.#showCall(event, printer),
        onStatus: status => this.#showStatus(status),
      })
      this.#messages = answer.messages
      printer.finish(answer.text)
      return this.#judge(answer)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      printer.breakOff()
      if (this.#isLoading && terminal.err.isTTY) say(terminal, '')
      this.#isLoading = false
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

  /** Loading a model takes a while: said once, and counted on a terminal. */
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

/** Answers the lines of a pipe, each as it comes. Gives the worst of their exit codes. */
async function answerLines(
  conversation: ChatConversation,
  input: NodeJS.ReadableStream,
  asking: Asking,
): Promise<number> {
  const { signal } = asking
  const codes: number[] = []
  for await (const line of questions(createInterface({ input, signal })))
    codes.push(await conversation.ask(line, asking))
  if (codes.length === 0 && !signal.aborted) checkQuestion('')
  if (codes.length === 0) throw new Stopped('The program was asked to stop')
  return signal.aborted ? EXIT.failed : Math.max(...codes)
}

/** Questions until the terminal is closed or the program stopped. A Ctrl-C here stops the answer alone. */
async function converse(
  conversation: ChatConversation,
  terminal: Required<ChatTerminal>,
  signal: AbortSignal,
): Promise<number> {
  say(terminal, `${modelLine(conversation.model)}\n${HELP}\n`)
  const lines = createInterface({
    input: terminal.in,
    output: terminal.err,
    prompt: 'you> ',
    terminal: true,
    signal,
  })
  const person = askingAt(terminal, { input: terminal.in, lines })
  let running: AbortController | undefined
  lines.on('SIGINT', () => {
    if (running) running.abort()
    else {
      say(terminal, '\nType exit or press Ctrl-D to leave.')
      lines.prompt()
    }
  })
  for await (const line of questions(lines)) {
    running = new AbortController()
    await conversation.ask(line, { signal: AbortSignal.any([running.signal, signal]), person })
    running = undefined
  }
  lines.close()
  return signal.aborted ? EXIT.failed : EXIT.ok
}

async function* questions(lines: Interface): AsyncGenerator<string> {
  let isOpen = true
  lines.once('close', () => {
    isOpen = false
  })
  lines.prompt()
  for await (const line of lines) {
    const question = line.trim()
    if (question === 'exit' || question === 'quit') return
    if (question !== '') yield question
    // It may have been closed during the answer, and newer Nodes throw then.
    if (isOpen) lines.prompt()
  }
}
