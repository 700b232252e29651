import { createInterface, type Interface } from 'node:readline'
import type { AiClient, Answer, CallNotice, ConversationMessage, ModelStatus } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import { whyUnanswered } from '../models/why-unanswered.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { Ask } from '../tools/caller.ts'
import { timeoutOf } from './arguments.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import type { ChatSource } from './source.ts'
import { Stopped, type StopSignals, unlessStopped } from './stop-signals.ts'
import { askingAt, printResult, say, type Terminal } from './terminal.ts'

export interface ChatFlags {
  /** `ollama:<model>`, `anthropic:<model>` or `offline`. */
  model?: string
  /** Milliseconds for one answer. */
  timeout?: string
  /** Print answers as JSON, one per line. */
  json?: boolean
}

export interface ChatTerminal extends Terminal {
  /** Where questions come from; standard input if left out. */
  in?: NodeJS.ReadableStream & { isTTY?: boolean }
}

interface ChatContext {
  source: ChatSource
  terminal: ChatTerminal
  stop: Pick<StopSignals, 'signal'>
}

const INSTRUCTIONS =
  'You are the assistant of this home. Use the tools for what they can do or know, instead of guessing. ' +
  'Answer in one or two short sentences.'
const HELP = 'Ctrl-C stops an answer; /model lists the models, /model NAME switches to one; /quit leaves.'

/** `toolpost chat [question]`: answers a question or every line of a pipe, or holds a conversation on a terminal. */
export async function chat(
  { source, terminal, stop: { signal } }: ChatContext,
  question: string | undefined,
  flags: ChatFlags,
): Promise<number> {
  const input = terminal.in ?? process.stdin
  const timeLimitMs = timeoutOf(flags)
  if (question !== undefined) checkQuestion(question)
  const model = await unlessStopped(choose(source), signal)
  const setup = { client: source.client, model, timeLimitMs, terminal, json: flags.json === true }
  const conversation = new Conversation(setup)
  if (question === undefined && input.isTTY) {
    // In parallel with the first question.
    void source.ready?.()
    return converse(conversation, { source, terminal: { ...terminal, in: input } }, signal)
  }
  if (terminal.err.isTTY && !flags.json) say(terminal, modelLine(model))
  const ask = askingAt(terminal, { input })
  if (question !== undefined) return conversation.ask(question, signal, ask)
  const codes: number[] = []
  for await (const line of questions(createInterface({ input, signal })))
    codes.push(await conversation.ask(line, signal, ask))
  if (codes.length === 0 && signal.aborted) throw new Stopped('Toolpost was asked to stop')
  if (codes.length === 0) checkQuestion('')
  return signal.aborted ? EXIT.failed : Math.max(...codes)
}

function checkQuestion(question: string): void {
  if (question.trim() === '') throw new UsageError('The question is empty: toolpost chat "what time is it"')
}

/** An unavailable model counts as a mistake in the command line or the configuration. */
async function choose(source: ChatSource): Promise<ModelInfo> {
  try {
    return await source.model()
  } catch (error) {
    throw error instanceof ModelError ? new UsageError(error.message) : error
  }
}

function modelLine({ name, why }: ModelInfo): string {
  return `Model: ${name} (${why})`
}

/** Asks until the user leaves or the program is stopped. Ctrl-C stops only the answer; at an empty prompt, it leaves. */
async function converse(
  conversation: Conversation,
  { source, terminal }: { source: ChatSource; terminal: Required<ChatTerminal> },
  signal: AbortSignal,
): Promise<number> {
  say(terminal, `${modelLine(conversation.model)}\n${HELP}\n`)
  const streams = { input: terminal.in, output: terminal.err, terminal: true }
  const lines = createInterface({ ...streams, prompt: 'you> ', signal })
  const ask = askingAt(terminal, { input: terminal.in, lines })
  let running: AbortController | undefined
  lines.on('SIGINT', () => {
    if (running) return running.abort()
    if (lines.line === '') return lines.close()
    // What was typed is dropped, as in a shell.
    say(terminal, '')
    lines.write(null, { ctrl: true, name: 'u' })
    lines.prompt()
  })
  for await (const line of questions(lines)) {
    const [command, name] = line.split(/\s+/)
    if (command === '/quit') break
    if (command === '/model') await switchModel(name, { source, conversation, terminal })
    else if (command?.startsWith('/')) say(terminal, HELP)
    else {
      running = new AbortController()
      await conversation.ask(line, AbortSignal.any([running.signal, signal]), ask)
      running = undefined
    }
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
    // It may have been closed during the answer, in which case newer Node versions throw.
    if (isOpen) lines.prompt()
  }
}

/** Lists the models, or switches to one; a mistake is reported and does not end the chat. */
async function switchModel(
  name: string | undefined,
  { source, conversation, terminal }: { source: ChatSource; conversation: Conversation; terminal: Terminal },
): Promise<void> {
  const models = await source.models()
  if (name === undefined) {
    for (const model of models)
      say(terminal, `${model.name === conversation.model.name ? '*' : ' '} ${model.name} (${model.why})`)
    return
  }
  const model = models.find(each => each.name === name)
  const client = model && (await source.clientOf(name).catch((error: Error) => error.message))
  if (!client || !model) return say(terminal, `unknown model '${name}'; /model lists the models`)
  if (typeof client === 'string') return say(terminal, client)
  conversation.use(client, model)
  say(terminal, `Switched to ${name}`)
}

interface Setup {
  client: AiClient
  model: ModelInfo
  timeLimitMs: number | undefined
  terminal: Terminal
  json: boolean
}

/** A conversation with memory, which shows answers and calls as they arrive. */
class Conversation {
  #messages: ConversationMessage[] = [{ role: 'system', content: INSTRUCTIONS }]
  #setup: Setup
  #isLoading = false
  /** The part of the answer that is on the terminal already. */
  #shown = ''

  constructor(setup: Setup) {
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
  async ask(question: string, signal: AbortSignal, ask: Ask): Promise<number> {
    const { client, terminal, timeLimitMs, json } = this.#setup
    const calls: object[] = []
    const startedAt = performance.now()
    const printJson = (answer: object) => {
      const durationMs = Math.round(performance.now() - startedAt)
      const facts = { model: this.model.name, durationMs, calls }
      if (json) printResult(terminal, JSON.stringify({ question, ...answer, ...facts }))
    }
    try {
      const answer = await client.ask([...this.#messages, { role: 'user', content: question }], {
        ...{ signal, timeLimitMs, origin: 'chat', ask },
        onToken: token => this.#showToken(token),
        onCall: event => {
          if (event.type === 'end') calls.push({ ...event.call, result: event.result })
          this.#showCall(event)
        },
        onStatus: status => this.#showStatus(status),
      })
      this.#messages = answer.messages
      const { text, stopReason, usage } = answer
      const isShown = this.#shown !== '' && this.#shown.trim() === text.trim()
      this.#endLine()
      if (!json && !isShown && text.trim() !== '') printResult(terminal, text)
      printJson({ text, stopReason, ...(usage && { usage }) })
      return this.#judge(answer)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      this.#endLine()
      const isStopped = error.code === 'stopped'
      printJson({ text: '', stopReason: isStopped ? 'stopped' : 'error', error: error.message })
      say(terminal, isStopped ? 'Stopped.' : `Error: ${error.message}`)
      return EXIT.failed
    }
  }

  /** On a terminal the answer appears as it is generated. A model must not be able to move the cursor. */
  #showToken(token: string): void {
    const { terminal, json } = this.#setup
    if (json || !terminal.out.isTTY) return
    this.#shown += token
    terminal.out.write(token.replace(/[^\P{Cc}\n\t]/gu, ''))
  }

  #endLine(): void {
    if (this.#shown !== '') this.#setup.terminal.out.write('\n')
    this.#shown = ''
  }

  #showCall(event: CallNotice): void {
    this.#endLine()
    const { terminal } = this.#setup
    const { name, args } = event.call
    if (event.type === 'start') return say(terminal, `→ ${name} ${JSON.stringify(args)}`)
    const { result, durationMs } = event
    const outcome = result.success ? 'done' : `failed: ${result.error}`
    say(terminal, `← ${name} ${outcome} (${Math.round(durationMs)} ms)`)
  }

  /** Loading a model takes a while. */
  #showStatus({ state, model, elapsedMs }: ModelStatus): void {
    const { terminal } = this.#setup
    if (state === 'loaded') say(terminal, `Loaded ${model} in ${Math.round(elapsedMs / 1_000)} s.`)
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
