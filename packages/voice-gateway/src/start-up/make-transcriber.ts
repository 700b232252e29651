import type { Logger } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import { type Transcriber, TranscriberError } from '../speech-to-text/transcriber.ts'
import { WhisperTranscriber } from '../speech-to-text/whisper-transcriber.ts'

/** The transcriber: the embedded model, or whisper.cpp if configured. Loads nothing yet. */
export function makeTranscriber({ transcriber, whisper }: VoiceConfig, logger: Logger): Transcriber {
  const isWhisper = transcriber === 'whisper.cpp' || (transcriber === undefined && whisper !== undefined)
  if (!isWhisper)
    return new MoonshineTranscriber({ model: transcriber === 'moonshine-base' ? 'base' : 'tiny', logger })
  if (!whisper) throw new TranscriberError('whisper.cpp needs a model: set voice.whisper.model to its file')
  return new WhisperTranscriber(whisper)
}
