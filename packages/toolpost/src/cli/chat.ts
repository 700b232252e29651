import { createInterface, type Interface } from 'node:readline'
import {
  type CallNotice,
  type ConversationMessage,
  type ModelStatus,
  whyUnanswered,
} from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { Ask } from '../tools/caller.ts'
import { timeoutOf } from './call.ts'
import type { BareContext, SourceContext } from './context.ts'
import { EXIT, Stopped, UsageError, unlessStopped } from './exit.ts'
import type { ChatSource } from './source.ts'
import { askingAt, printResult, say } from './terminal.ts'

type ChatContext = BareContext & { source: ChatSource }

const INSTRUCTIONS =
  'You are the assistant of this home. Use the tools for what they can do or know, instead of guessing. ' +
  'Answer in one or two short sentences.'

/** `toolpost chat [question]`: answers a question or every line of a pipe, or holds a conversation on a terminal. */
export async function chat(given: SourceContext<[string?]>): Promise<number> {
  const { terminal, stop, flags } = given
  const [question] = given.words
  const source = await given.source.chat(flags.model as string | undefined)
  const context = { ...given, source }
  const { in: input = process.stdin, err } = terminal
  const { signal } = stop
  if (question !== undefined) checkQuestion(question)
  const answer = await answering(context)
  if (question === undefined && input.isTTY) {
    // In parallel with the first question.
    void source.ready?.()
    say(terminal, `${await modelLine(source)}\nCtrl-C stops an answer; /quit leaves.\n`)
    const lines = createInterface({ input, output: err, terminal: true, prompt: 'you> ', signal })
    return converse(lines, answer, context)
  }
  if (err.isTTY && !flags.json) say(terminal, await modelLine(source))
  const ask = askingAt(terminal)
  if (question !== undefined) return answer(question, signal, ask)
  const codes: number[] = []
  for await (const line of questions(createInterface({ input, signal })))
    codes.push(await answer(line, signal, ask))
  if (codes.length === 0 && signal.aborted) throw new Stopped('Toolpost was asked to stop')
  if (codes.length === 0) checkQuestion('')
  return signal.aborted ? EXIT.failed : Math.max(...codes)
}

function checkQuestion(question: string): void {
  if (question.trim() === '') throw new UsageError('The question is empty: toolpost chat "what time is it"')
}

async function modelLine(source: ChatSource): Promise<string> {
  const { name, why } = await source.model()
  return `Model: ${name} (${why})`
}

type Answering = (question: string, signal: AbortSignal, ask: Ask) => Promise<number>

/** Asks until the user leaves or the program is stopped. Ctrl-C stops only the answer; at an empty prompt, it leaves. */
async function converse(
  lines: Interface,
  answer: Answering,
  { terminal, stop }: ChatContext,
): Promise<number> {
  const ask = askingAt(terminal, lines)
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
    running = new AbortController()
    await answer(line, AbortSignal.any([running.signal, stop.signal]), ask)
    running = undefined
  }
  lines.close()
  return stop.signal.aborted ? EXIT.failed : EXIT.ok
}

async function* questions(lines: Interface): AsyncGenerator<string> {
  let isOpen = true
  lines.once('close', () => {
    isOpen = false
  })
  lines.prompt()
  for await (const line of lines) {
    const question = line.trim()
    if (/^\/?(exit|quit)$/.test(question)) return
    if (question !== '') yield question
    // It may have been closed during the answer, in which case newer Node versions throw.
    if (isOpen) lines.prompt()
  }
}

/** A conversation with memory: asks, shows calls and answer as they arrive, and resolves to the exit code. */
async function answering({ source, terminal, stop, flags }: ChatContext): Promise<Answering> {
  const { json = false } = flags
  const { out, err } = terminal
  const timeLimitMs = timeoutOf(flags)
  const { name: model } = await unlessStopped(source.model(), stop).catch(error => {
    // An unavailable model counts as a mistake in the command line or the configuration.
    throw error instanceof ModelError ? new UsageError(error.message) : error
  })
  let messages: ConversationMessage[] = [{ role: 'system', content: INSTRUCTIONS }]
  /** The part of the answer that is on the terminal already. */
  let shown = ''
  const endLine = () => {
    if (shown !== '') out.write('\n')
    shown = ''
  }
  const onToken = (token: string) => {
    if (json || !out.isTTY) return
    shown += token
    // A model must not be able to move the cursor.
    out.write(token.replace(/[^\P{Cc}\n\t]/gu, ''))
  }
  const onStatus = ({ state, elapsedMs }: ModelStatus) => {
    if (state === 'loaded') say(terminal, `Loaded ${model} in ${Math.round(elapsedMs / 1_000)} s.`)
    else if (elapsedMs < 1_000) say(terminal, `Loading ${model} …`)
  }
  return async (question, signal, ask) => {
    const calls: object[] = []
    const startedAt = performance.now()
    const onCall = (event: CallNotice) => {
      endLine()
      const { name, args } = event.call
      if (event.type === 'start') return say(terminal, `→ ${name} ${JSON.stringify(args)}`)
      const { result, durationMs } = event
      calls.push({ ...event.call, result })
      const outcome = result.success ? 'done' : `failed: ${result.error}`
      say(terminal, `← ${name} ${outcome} (${Math.round(durationMs)} ms)`)
    }
    const print = (answer: { text: string } & Record<string, unknown>) => {
      const isShown = shown !== '' && shown.trim() === answer.text.trim()
      endLine()
      const facts = { model, durationMs: Math.round(performance.now() - startedAt), calls }
      if (json) printResult(terminal, JSON.stringify({ question, ...answer, ...facts }))
      else if (!isShown && answer.text.trim() !== '') printResult(terminal, answer.text)
    }
    const options = { signal, timeLimitMs, origin: 'chat', ask, onToken, onStatus, onCall }
    try {
      const answer = await source.client.ask([...messages, { role: 'user', content: question }], options)
      // Only complete answers are remembered.
      messages = answer.messages
      const { text, stopReason, usage, iterations } = answer
      print({ text, stopReason, usage })
      const problem = whyUnanswered(answer)
      if (stopReason !== 'answer') say(terminal, `The answer is incomplete: ${problem}.`)
      if (text.trim() === '') say(terminal, 'The model gave no answer.')
      if (iterations === 0 && !err.isTTY) say(terminal, await modelLine(source))
      return problem === undefined ? EXIT.ok : EXIT.failed
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      const isStopped = error.code === 'stopped'
      print({ text: '', stopReason: isStopped ? 'stopped' : 'error', error: error.message })
      say(terminal, isStopped ? 'Stopped.' : `Error: ${error.message}`)
      return EXIT.failed
    }
  }
}
