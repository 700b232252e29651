import { createInterface, type Interface } from 'node:readline'
import { ModelError } from '../../models/model-error.ts'
import type { ModelInfo } from '../../project/model-choice.ts'
import type { Project } from '../../project/project.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { Stopped, type StopSignals, unlessStopped } from '../stop-signals.ts'
import { askingAt, say, type Terminal } from '../terminal.ts'
import { timeoutOf } from '../timeout-flag.ts'
import { type ChatCommands, isCommand, runCommand } from './chat-commands.ts'
import { type Asking, ChatConversation, modelLine } from './chat-conversation.ts'

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

export interface ChatContext {
  project: Pick<Project, 'client' | 'model' | 'ready'> & ChatCommands
  terminal: ChatTerminal
  stop: Pick<StopSignals, 'signal'>
}

const HELP = 'Ask a question. /help lists the commands; Ctrl-C stops an answer, /quit leaves.'

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
  const conversation = new ChatConversation({
    client: project.client,
    model,
    timeLimitMs,
    terminal,
    json: flags.json === true,
  })
  if (question === undefined && input.isTTY) {
    // In parallel with the first question.
    void project.ready()
    return converse(conversation, { project, terminal: { ...terminal, in: input } }, signal)
  }
  if (terminal.err.isTTY && !flags.json) say(terminal, modelLine(model))
  const asking = { signal, person: askingAt(terminal, { input }) }
  return question === undefined
    ? answerLines(conversation, input, asking)
    : conversation.ask(question, asking)
}

function checkQuestion(question: string): void {
  if (question.trim() === '') throw new UsageError('The question is empty: toolpost chat "what time is it"')
}

/** An unavailable model counts as a mistake in the command line or the configuration. */
async function choose(project: ChatContext['project']): Promise<ModelInfo> {
  try {
    return await project.model()
  } catch (error) {
    throw error instanceof ModelError ? new UsageError(error.message) : error
  }
}

/** Answers the lines of a pipe as they arrive. Resolves to the worst of their exit codes. */
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
  if (codes.length === 0) throw new Stopped('Toolpost was asked to stop')
  return signal.aborted ? EXIT.failed : Math.max(...codes)
}

/** How soon after the first a second Ctrl-C at an empty prompt leaves. */
const TWICE_MS = 2_000

/** Asks until the user leaves or the program is stopped. Ctrl-C stops only the answer; twice at an empty prompt, it leaves. */
async function converse(
  conversation: ChatConversation,
  { project, terminal }: { project: ChatContext['project']; terminal: Required<ChatTerminal> },
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
  let firstAt = Number.NEGATIVE_INFINITY
  lines.on('SIGINT', () => {
    if (running) return running.abort()
    const isEmpty = lines.line === ''
    if (isEmpty && performance.now() - firstAt < TWICE_MS) return lines.close()
    firstAt = isEmpty ? performance.now() : Number.NEGATIVE_INFINITY
    say(terminal, isEmpty ? '\nPress Ctrl-C again to leave.' : '')
    // What was typed is dropped, as in a shell.
    lines.write(null, { ctrl: true, name: 'u' })
    lines.prompt()
  })
  for await (const line of questions(lines)) {
    if (line === '/quit' || line === '/exit') break
    if (isCommand(line)) {
      await runCommand(line, { project, conversation, terminal })
      continue
    }
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
    // It may have been closed during the answer, in which case newer Node versions throw.
    if (isOpen) lines.prompt()
  }
}
