import { fstatSync } from 'node:fs'
import { access, constants, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { systemClock } from 'toolpost'
import { askAtTerminal } from 'toolpost/terminal'
import { BackgroundTranscriber, type Taken } from '../background-transcriber.ts'
import type { Utterance, VoiceBus } from '../messages.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import { grammarOf, makeTranscriber, NO_VOICE, speakerFor } from '../start-up/outfit.ts'
import { startVoice } from '../start-up/start-voice.ts'
import { type CommandContext, EXIT, terminal, UsageError } from './context.ts'

export interface AnswerFlags {
  json?: boolean
}

const TERMINAL = 'terminal'
const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
}

/** `voice-gateway say "…"` */
export async function sayText(context: CommandContext, text: string, flags: AnswerFlags): Promise<number> {
  if (text.trim() === '') throw new UsageError('Nothing to say; try: voice-gateway say "what time is it"')
  return answerOnce(context, { text }, flags)
}

/** `voice-gateway hear file.wav`, or raw PCM as over MQTT; `-` is stdin. */
export async function hearFile(context: CommandContext, file: string, flags: AnswerFlags): Promise<number> {
  context.stop.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  try {
    const pcm = file === '-' ? Buffer.concat(await process.stdin.toArray()) : await readFile(file)
    return await answerOnce(context, { pcm }, flags)
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new UsageError(`${file} cannot be read: ${READ_PROBLEMS[code ?? ''] ?? message}`, { cause: error })
  }
}

/** Answers one utterance, on stdout and aloud. Starts only what it needs. */
async function answerOnce(
  context: CommandContext,
  utterance: Utterance,
  flags: AnswerFlags,
): Promise<number> {
  const { project, voice, stop } = context
  const { client, executor, logger } = project
  const grammar = grammarOf(project, systemClock)
  const speaker = await findVoice(context)
  const transcriber = makeTranscriber(voice, logger)
  let isSpoken = true
  try {
    if (!('text' in utterance)) {
      // In parallel with loading the model, which is a configuration mistake if it fails.
      void grammar().catch(() => {})
      await transcriber.ready()
    }
    const background = new BackgroundTranscriber({
      transcriber,
      grammar,
      client,
      executor,
      speaker,
      logger,
      filler: voice.filler,
      ask: askAtTerminal({ output: process.stderr, say: terminal.say }),
      bus: printer(flags),
      onNotice: notice => {
        isSpoken = false
        terminal.say(notice)
      },
    })
    const end = () => void background.close({ drainMs: 0 })
    stop.addEventListener('abort', end, { once: true })
    const taken = background.take(utterance)
    if (stop.aborted) end()
    const isAnswered = taken.accepted && (await taken.done).outcome === 'answered'
    return isAnswered && (isSpoken || context.outFile === undefined) ? EXIT.ok : EXIT.failed
  } finally {
    await transcriber.close()
  }
}

/** With `--out` a voice is required; without it, the answer may be text only. */
async function findVoice({ voice, outFile }: CommandContext): Promise<Speaker | undefined> {
  if (outFile !== undefined) await checkFolder(outFile)
  if (outFile !== undefined && voice.speaker === 'none') throw new UsageError('--out needs a voice, not none')
  const speaker = await speakerFor(voice, outFile)
  if (speaker || voice.speaker === 'none' || voice.player === 'none') return speaker
  if (outFile !== undefined) throw new UsageError(`--out needs a voice: ${NO_VOICE}`)
  terminal.say(`The answer is ${NO_VOICE}`)
  return undefined
}

/** Checked before anything is done that cannot be undone. */
async function checkFolder(file: string): Promise<void> {
  try {
    await access(dirname(file), constants.W_OK)
  } catch (cause) {
    throw new UsageError(`--out ${file}: its folder does not exist or is not writable`, { cause })
  }
}

/** Prints the answer as soon as it is complete, before it is spoken. */
function printer({ json }: AnswerFlags): VoiceBus {
  return {
    transcription: ({ source, text, free_text: free = text }) => {
      if (source === 'audio' && text !== '')
        terminal.say(`Heard: ${text}${free === text ? '' : ` ("${free}")`}`)
    },
    response: response => {
      const { text, outcome, error } = response
      if (json) return terminal.print(JSON.stringify(response))
      if (text !== '') terminal.print(text)
      // "Not understood" is phrased in many ways.
      const isTold =
        error === undefined || text.includes(error) || (text !== '' && error === 'it was not understood')
      if (outcome !== 'answered' && !isTold) terminal.say(`No answer: ${error}`)
    },
  }
}

/** Called when the person at the terminal is asked something. */
interface Questions {
  onAsked(): void
}

/** `voice-gateway`: listens until stopped; if lines are piped in, until they are answered. */
export async function listen(context: CommandContext, flags: { microphone: boolean }): Promise<number> {
  const { project, voice, outFile, stop } = context
  const microphone = flags.microphone && voice.microphone !== false
  const questions: Questions = { onAsked: () => {} }
  const gateway = await startVoice({
    project,
    outFile,
    voice: { ...voice, microphone },
    bus: conversationPrinter(questions),
    onNotice: notice => {
      if (!stop.aborted) terminal.say(notice)
    },
  })
  const ready = gateway.ready().then(({ parts, durationMs }) => {
    if (stop.aborted) return
    for (const { name, state, text, durationMs: ms } of parts)
      terminal.say(`${state === 'ready' ? '✔' : '✘'} ${name.padEnd(10)} ${text} (${ms} ms)`)
    const seconds = (durationMs / 1_000).toFixed(1)
    terminal.say(`Ready after ${seconds} s. Say or type something; press Ctrl-C to stop.`)
  })
  const stopped = new Promise<true>(resolve => {
    if (stop.aborted) resolve(true)
    stop.addEventListener('abort', () => resolve(true), { once: true })
  })
  const lines = answerLines(gateway.transcriber, questions, stop)
  const hasAnswered = await Promise.race([stopped, hasEnd() ? lines : stopped])
  if (!stop.aborted) await ready
  await gateway.close()
  return hasAnswered ? EXIT.ok : EXIT.failed
}

/** Whether stdin will end, and the program with it: a pipe, file or terminal does; a service's stdin does not. */
function hasEnd(): boolean {
  if (process.stdin.isTTY) return true
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isFile() || input.isSocket()
  } catch {
    return false
  }
}

/** Answers to the person at the terminal go to stdout; those of other conversations are reported on stderr. */
function conversationPrinter(questions: Questions): VoiceBus {
  return {
    question: ({ conversation, text }) => {
      terminal.say(conversation === TERMINAL ? text : `${conversation}: ${text}`)
      if (conversation === TERMINAL) questions.onAsked()
    },
    transcription: () => {},
    response: ({ conversation, question, text, outcome, error }) => {
      if (conversation === TERMINAL && text !== '') terminal.print(text)
      else if (text !== '') terminal.say(`${conversation}: ${question || '…'} → ${text}`)
      if (outcome !== 'answered' && text === '') terminal.say(`${conversation}: no answer: ${error}`)
    },
  }
}

/**
 * Answers the lines of stdin; resolves with whether each got an answer. Piped lines are handled one by one, except that
 * a question takes the next line as its answer; a person at a terminal may interrupt what is being spoken.
 */
async function answerLines(
  transcriber: BackgroundTranscriber,
  questions: Questions,
  signal: AbortSignal,
): Promise<boolean> {
  const outcomes: Promise<boolean>[] = []
  for await (const line of createInterface({ input: process.stdin, signal })) {
    if (line.trim() === '') continue
    const asked = new Promise<void>(resolve => {
      questions.onAsked = resolve
    })
    const answered = isAnswered(transcriber.take({ text: line, conversation: TERMINAL }))
    outcomes.push(answered)
    if (!process.stdin.isTTY) await Promise.race([answered, asked])
  }
  return (await Promise.all(outcomes)).every(Boolean)
}

async function isAnswered(taken: Taken): Promise<boolean> {
  if (taken.accepted) return (await taken.done).outcome === 'answered'
  terminal.say(`Not accepted: ${taken.reason}`)
  return false
}
