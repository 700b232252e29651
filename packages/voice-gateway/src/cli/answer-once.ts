import { access, constants, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemClock } from 'toolpost'
import { askAtTerminal } from 'toolpost/terminal'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { grammarOf, makeTranscriber, NO_VOICE, speakerFor } from '../start-up/outfit.ts'
import type { Utterance } from '../utterance.ts'
import { type CommandContext, EXIT, terminal, UsageError } from './context.ts'

export interface AnswerFlags {
  json?: boolean
}

/** `voice-gateway say "…"` */
export async function sayText(context: CommandContext, text: string, flags: AnswerFlags): Promise<number> {
  if (text.trim() === '') throw new UsageError('Nothing to say; try: voice-gateway say "what time is it"')
  return answerOnce(context, { text }, flags)
}

/** Answers one utterance, on stdout and aloud. Starts only what it needs. */
export async function answerOnce(
  context: CommandContext,
  utterance: Utterance,
  flags: AnswerFlags,
): Promise<number> {
  const { project, voice, stop } = context
  const { client, executor, logger } = project
  const grammar = grammarOf(project, systemClock)
  // In parallel with loading the model.
  if (!('text' in utterance)) void grammar().catch(() => {})
  const speaker = await findVoice(context)
  const transcriber = makeTranscriber(voice, logger)
  if (!('text' in utterance)) await checkedReady(transcriber)
  let isSpoken = true
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
  try {
    const taken = background.take(utterance)
    if (stop.aborted) end()
    const isAnswered = taken.accepted && (await taken.done).outcome === 'answered'
    return isAnswered && (isSpoken || context.outFile === undefined) ? EXIT.ok : EXIT.failed
  } finally {
    await transcriber.close()
  }
}

/** A transcriber that cannot be used is a configuration mistake, not unclear speech. */
async function checkedReady(transcriber: Transcriber): Promise<void> {
  try {
    await transcriber.ready()
  } catch (error) {
    await transcriber.close()
    throw error
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
    transcription: ({ source, text, free_text }) => {
      if (source === 'audio' && text !== '') terminal.say(heardLine(text, free_text))
    },
    response: response => {
      const { text, outcome, error } = response
      if (json) return terminal.print(JSON.stringify(response))
      if (text !== '') terminal.print(text)
      if (outcome !== 'answered' && error !== undefined && !isTold(error, text))
        terminal.say(`No answer: ${error}`)
    },
  }
}

function heardLine(text: string, freeText: string | undefined): string {
  return freeText === undefined || freeText === text ? `Heard: ${text}` : `Heard: ${text} ("${freeText}")`
}

/** Whether the answer already gives the reason: "not understood" is phrased in many ways. */
function isTold(error: string, text: string): boolean {
  return text.includes(error) || (text !== '' && error === 'it was not understood')
}

/** `voice-gateway hear file.wav`, or raw PCM as over MQTT. */
export async function hearFile(context: CommandContext, file: string, flags: AnswerFlags): Promise<number> {
  return answerOnce(context, { pcm: await readRecording(file, context.stop) }, flags)
}

const PROBLEMS: Record<string, string> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
}
const MAX_BYTES = 256 * 1024 * 1024

async function readRecording(file: string, stop: AbortSignal): Promise<Uint8Array> {
  if (file === '-') return readAll(stop)
  try {
    return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} cannot be read: ${PROBLEMS[code ?? ''] ?? message}`, { cause: error })
  }
}

/** Everything up to the end of stdin, or until stopped. */
async function readAll(stop: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let bytes = 0
  stop.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  for await (const chunk of process.stdin.iterator()) {
    bytes += chunks[chunks.push(Buffer.from(chunk as Buffer)) - 1]?.length ?? 0
    if (bytes > MAX_BYTES) throw new UsageError(`The recording is larger than ${MAX_BYTES / 1024 / 1024} MB`)
  }
  return Buffer.concat(chunks)
}
