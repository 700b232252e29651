import { fstatSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { BackgroundTranscriber, Taken } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import type { PartStatus } from '../start-up/parts.ts'
import { startVoice, type VoiceGateway } from '../start-up/start-voice.ts'
import { type CommandContext, EXIT, terminal } from './context.ts'

interface ListenFlags {
  microphone: boolean
}

/** Called when the person at the terminal is asked something. */
interface Questions {
  onAsked(): void
}

const TERMINAL = 'terminal'

/** `voice-gateway`: listens until stopped; if lines are piped in, until they are answered. */
export async function listen(context: CommandContext, flags: ListenFlags): Promise<number> {
  const { project, voice, outFile, stop } = context
  const microphone = flags.microphone && voice.microphone !== false
  const questions: Questions = { onAsked: () => {} }
  const gateway = await startVoice({
    project,
    outFile,
    voice: { ...voice, microphone },
    bus: printer(questions),
    onNotice: notice => {
      if (!stop.aborted) terminal.say(notice)
    },
  })
  const ready = announce(gateway, stop)
  const lines = answerLines(gateway.transcriber, questions, stop)
  const hasAnswered = await Promise.race([stopped(stop), hasEnd() ? lines : stopped(stop)])
  if (!stop.aborted) await ready
  await gateway.close()
  return hasAnswered ? EXIT.ok : EXIT.failed
}

function stopped(stop: AbortSignal): Promise<true> {
  return new Promise(resolve => {
    if (stop.aborted) resolve(true)
    stop.addEventListener('abort', () => resolve(true), { once: true })
  })
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

async function announce(gateway: VoiceGateway, stop: AbortSignal): Promise<void> {
  const { parts, durationMs } = await gateway.ready()
  if (stop.aborted) return
  for (const part of parts) terminal.say(partLine(part))
  terminal.say(
    `Ready after ${(durationMs / 1_000).toFixed(1)} s. Say or type something; press Ctrl-C to stop.`,
  )
}

function partLine({ name, state, text, durationMs }: PartStatus): string {
  return `${state === 'ready' ? '✔' : '✘'} ${name.padEnd(10)} ${text} (${durationMs} ms)`
}

/** Answers to the person at the terminal go to stdout; those of other conversations are reported on stderr. */
function printer(questions: Questions): VoiceBus {
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
  const lines = createInterface({ input: process.stdin, signal })
  for await (const line of lines) {
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
