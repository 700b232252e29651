import { createInterface } from 'node:readline'
import { type CallNotice, type ModelStatus, whyUnanswered } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { Ask } from '../tools/caller.ts'
import { timeoutOf } from './call.ts'
import { EXIT, Stopped, stop, UsageError, unlessStopped } from './exit.ts'
import type { Source, SourceContext } from './source.ts'
import { asking, print, say } from './terminal.ts'

const INSTRUCTIONS =
  'You are the assistant of this home. Use the tools for what they can do or know, instead of guessing. ' +
  'Answer in one or two short sentences.'

/** `toolpost chat [question]`: answers a question or every line of a pipe, or holds a conversation on a terminal. */
export async function chat(context: SourceContext<[string?]>): Promise<number> {
  const { source, flags } = context
  const [question] = context.words
  const isConversation = question === undefined && process.stdin.isTTY
  const empty = new UsageError('The question is empty: toolpost chat "what time is it"')
  if (question?.trim() === '') throw empty
  const answer = await answering(context)
  const hints = isConversation ? '\nCtrl-C stops an answer; /quit leaves.\n' : ''
  if (isConversation || (process.stderr.isTTY && !flags.json)) say(`${await modelLine(source)}${hints}`)
  if (question !== undefined) return answer(question, stop.signal, asking())
  // In parallel with the first question.
  if (isConversation) void source.ready?.()
  const codes = await converse(answer, isConversation)
  if (isConversation) return stop.signal.aborted ? EXIT.failed : EXIT.ok
  if (codes.length === 0) throw stop.signal.aborted ? new Stopped('Toolpost was asked to stop') : empty
  return stop.signal.aborted ? EXIT.failed : Math.max(...codes)
}

async function modelLine(source: Source): Promise<string> {
  const { name, why } = await source.model()
  return `Model: ${name} (${why})`
}

type Answering = (question: string, signal: AbortSignal, ask: Ask) => Promise<number>

/** Answers line by line until the user leaves or the program is stopped. Ctrl-C stops only the answer; at an empty prompt, it leaves. */
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
  lines.on('SIGINT', () => {
    if (running) return running.abort()
    if (lines.line === '') return lines.close()
    // What was typed is dropped, as in a shell.
    say('')
    lines.write(null, { ctrl: true, name: 'u' })
    lines.prompt()
  })
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

/** A conversation with memory: asks, shows calls and answer as they arrive, and resolves to the exit code. */
async function answering({ source, flags: { json, ...flags } }: SourceContext): Promise<Answering> {
  const { stdout, stderr } = process
  const timeLimitMs = timeoutOf(flags)
  const { name: model } = await unlessStopped(source.model()).catch(error => {
    // An unavailable model counts as a mistake in the command line or the configuration.
    throw error instanceof ModelError ? new UsageError(error.message) : error
  })
  let messages: Parameters<Source['client']['ask']>[0] & object = [{ role: 'system', content: INSTRUCTIONS }]
  /** The part of the answer that is on the terminal already. */
  let shown = ''
  const endLine = () => {
    if (shown !== '') stdout.write('\n')
    shown = ''
  }
  const onToken = (token: string) => {
    if (json || !stdout.isTTY) return
    shown += token
    // A model must not be able to move the cursor.
    stdout.write(token.replace(/[^\P{Cc}\n\t]/gu, ''))
  }
  const onStatus = ({ state, elapsedMs }: ModelStatus) => {
    if (state === 'loaded') say(`Loaded ${model} in ${Math.round(elapsedMs / 1_000)} s.`)
    else if (elapsedMs < 1_000) say(`Loading ${model} …`)
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
      if (json) print(JSON.stringify({ question, ...answer, ...facts }))
      else if (!isShown && answer.text.trim() !== '') print(answer.text)
    }
    const options = { signal, timeLimitMs, origin: 'chat', ask, onToken, onStatus, onCall }
    try {
      const answer = await source.client.ask([...messages, { role: 'user', content: question }], options)
      // Only complete answers are remembered.
      messages = answer.messages
      const { text, stopReason, usage, iterations } = answer
      printAnswer({ text, stopReason, usage })
      const problem = whyUnanswered(answer)
      if (stopReason !== 'answer') say(`The answer is incomplete: ${problem}.`)
      if (text.trim() === '') say('The model gave no answer.')
      if (iterations === 0 && !stderr.isTTY) say(await modelLine(source))
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
