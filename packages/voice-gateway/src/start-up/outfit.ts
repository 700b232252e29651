import type { Clock, Logger } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { Project } from 'toolpost/project'
import type { Grammar } from '../messages.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import { type Transcriber, TranscriberError } from '../speech-to-text/transcriber.ts'
import { WhisperTranscriber } from '../speech-to-text/whisper-transcriber.ts'

/** How long speech waits for device names while servers are starting; then it is transcribed without them. */
const WAIT_FOR_NAMES_MS = 3_000
export const NO_VOICE = 'text only: no voice (espeak-ng, piper, say) or no player found on this machine'

/**
 * The sentences that a project understands without a model, with device names as soon as those are known; undefined if
 * everything goes to a model.
 */
export function grammarOf(
  project: Pick<Project, 'model' | 'ready' | 'executor'>,
  clock: Clock,
): () => Promise<Grammar | undefined> {
  const { executor } = project
  let names: Promise<unknown> | undefined
  return async () => {
    const { sentences } = await project.model()
    if (!sentences) return undefined
    await sentences.load()
    names ??= project.ready()
    const refreshed = names.then(() => sentences.refresh({ executor }))
    await within(WAIT_FOR_NAMES_MS, refreshed, clock).catch(() => {})
    return {
      graph: () => sentences.graph({ executor }),
      understand: (messages, { area } = {}) => sentences.understand(messages, { executor, area }),
    }
  }
}

/** Waits for something, but not longer than this; then resolves, or rejects if there is an error for that. */
export async function within(ms: number, done: Promise<unknown>, clock: Clock, late?: Error): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = clock.setTimer(() => (late ? reject(late) : resolve()), ms)
    done.then(() => resolve(), reject).finally(() => timer.cancel())
  })
}

/** The transcriber: the embedded model, or whisper.cpp if configured. Loads nothing yet. */
export function makeTranscriber({ transcriber, whisper }: VoiceConfig, logger: Logger): Transcriber {
  const isWhisper = transcriber === 'whisper.cpp' || (transcriber === undefined && whisper !== undefined)
  if (!isWhisper)
    return new MoonshineTranscriber({ model: transcriber === 'moonshine-base' ? 'base' : 'tiny', logger })
  if (!whisper) throw new TranscriberError('whisper.cpp needs a model: set voice.whisper.model to its file')
  return new WhisperTranscriber(whisper)
}
