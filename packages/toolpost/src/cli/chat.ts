import { createInterface } from 'node:readline'
import { type CallNotice, type ModelStatus, whyUnanswered } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { Ask } from '../tools/caller.ts'
import type { Context, Flags } from './context.ts'
import { EXIT, Stopped, stop, timeoutOf, UsageError, unlessStopped } from './process.ts'
import { type AskSource, openSource } from './source.ts'
import { asking, print, say } from './terminal.ts'

/** `toolpost chat [question]`: answers a question or every line of a pipe, or holds a conversation on a terminal. */
export async function chat(context: Context<[string?]>): Promise<number> {
  const { words, flags } = context
  const [question] = words
  const empty = new UsageError('The question is empty: toolpost chat "what time is it"')
  if (question?.trim() === '') throw empty
  const model = { wanted: flags.model as string | undefined, isRequired: true }
  const source = await openSource(context, { model, isAlone: Boolean(flags.timeout ?? flags.model) })
  const { name, why } = await unlessStopped(source.model()).catch(error => {
    // An unavailable model counts as a mistake in the command line or the configuration.
    throw error instanceof ModelError ? new UsageError(error.message) : error
  })
  const modelLine = `Model: ${name} (${why})`
  const answer = answering(source.ask, name, flags)
  const isConversation = question === undefined && process.stdin.isTTY
  if (isConversation) say(`${modelLine}\nCtrl-C stops an answer; /quit leaves.\n`)
  else if (process.stderr.isTTY && !flags.json) say(modelLine)
  if (question !== undefined) return answer(question, stop.signal, asking())
  if (isConversation) source.prepare()
  const codes = await converse(answer, isConversation)
  if (isConversation) return stop.signal.aborted ? EXIT.failed : EXIT.ok
  if (codes.length === 0) throw stop.signal.aborted ? new Stopped() : empty
  return stop.signal.aborted ? EXIT.failed : Math.max(...codes)
}

type Answering = (question: string, signal: AbortSignal, ask: Ask) => Promise<number>

/** Answers line by line until the user leaves or the program is stopped. Ctrl-C stops the answer; at a prompt, it leaves. */
async function converse(answer: Answering, isTerminal: boolean): Promise<number[]> {
  const { signal } = stop
  const shown = isTerminal && { output: process.stderr, terminal: true, prompt: 'you> ' }
  const lines = createInterface({ input: process.stdin, ...shown, signal })
  const ask = asking(isTerminal ? lines : undefined)
  const codes: number[] = []
  let running: AbortController | undefined
  let isOpen = true
  lines.once('close', () => {
    isOpen = false
  })
  lines.on('SIGINT', () => (running ? running.abort() : lines.close()))
  lines.prompt()
  for await (const line of lines) {
    if (/^\s*\/?(exit|quit)\s*$/.test(line)) break
    running = new AbortController()
    if (line.trim() !== '')
      codes.push(await answer(line.trim(), AbortSignal.any([running.signal, signal]), ask))
    running = undefined
    // It may have been closed during the answer, in which case newer Node versions throw.
    if (isOpen) lines.prompt()
  }
  lines.close()
  return codes
}

/** Asks, shows calls and answer as they arrive, and resolves to the exit code. */
function answering(askSource: AskSource, model: string, flags: Flags): Answering {
  const { stdout } = process
  const timeLimitMs = timeoutOf(flags)
  /** The part of the answer that is on the terminal already. */
  let shown = ''
  const endLine = () => {
    if (shown !== '') stdout.write('\n')
    shown = ''
  }
  const onToken = (token: string) => {
    if (flags.json || !stdout.isTTY) return
    shown += token
    // A model must not be able to move the cursor.
    stdout.write(token.replace(/[^\P{Cc}\n\t]/gu, ''))
  }
  const onStatus = ({ state, elapsedMs }: ModelStatus) => {
    if (state === 'loading' && elapsedMs < 1_000) say(`Loading ${model} …`)
  }
  return async (question, signal, ask) => {
    const calls: object[] = []
    const startedAt = performance.now()
    const onCall = (event: CallNotice) => {
      endLine()
      const { name, args } = event.call
      if (event.type === 'start') return say(`→ ${name} ${JSON.stringify(args)}`)
      const { result, durationMs } = event
      calls.push({ ...event.call, result })
      say(`← ${name} ${result.success ? 'done' : `failed: ${result.error}`} (${Math.round(durationMs)} ms)`)
    }
    const printAnswer = (answer: { text: string } & Record<string, unknown>) => {
      const isShown = shown !== '' && shown.trim() === answer.text.trim()
      endLine()
      const facts = { model, durationMs: Math.round(performance.now() - startedAt), calls }
      if (flags.json) print(JSON.stringify({ question, ...answer, ...facts }))
      else if (!isShown && answer.text.trim() !== '') print(answer.text)
    }
    try {
      const options = { signal, timeLimitMs, origin: 'chat', ask, onToken, onStatus, onCall }
      const answer = await askSource(question, options)
      const { text, stopReason, usage } = answer
      printAnswer({ text, stopReason, usage })
      const problem = whyUnanswered({ ...answer, messages: [] })
      if (stopReason !== 'answer') say(`The answer is incomplete: ${problem}.`)
      if (text.trim() === '') say('The model gave no answer.')
      return problem === undefined ? EXIT.ok : EXIT.failed
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      const isStopped = error.code === 'stopped'
      printAnswer({ text: '', stopReason: isStopped ? 'stopped' : 'error', error: error.message })
      say(isStopped ? 'Stopped.' : `Error: ${error.message}`)
      return EXIT.failed
    }
  }
}
