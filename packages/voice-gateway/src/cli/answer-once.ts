import { BackgroundTranscriber } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import { makeTranscriber } from '../start-up/make-transcriber.ts'
import { speakerFor } from '../start-up/speech-output.ts'
import type { Utterance } from '../utterance.ts'
import { EXIT } from './exit-codes.ts'
import type { VoiceSession } from './session.ts'
import { terminal } from './terminal.ts'

export interface AnswerFlags {
  json?: boolean
}

/** Answers one utterance, on stdout and aloud. Starts only what it needs. */
export async function answerOnce(
  session: VoiceSession,
  utterance: Utterance,
  flags: AnswerFlags,
): Promise<number> {
  const { client, executor, logger, servers, voice, outFile, stop } = session
  // Side by side with hearing; what cannot be had is told when the question needs it.
  if (!('text' in utterance)) servers.start().catch(() => {})
  const speaker = await speakerFor(voice, outFile)
  const transcriber = makeTranscriber(voice, logger)
  const background = new BackgroundTranscriber({
    transcriber,
    client,
    executor,
    speaker,
    logger,
    filler: voice.filler,
    bus: printer(flags),
  })
  const taken = background.take(utterance)
  stop.addEventListener('abort', () => void background.close({ drainMs: 0 }), { once: true })
  try {
    if (!taken.accepted) throw new Error(taken.reason)
    const { outcome } = await taken.done
    return outcome === 'answered' ? EXIT.ok : EXIT.failed
  } finally {
    await transcriber.close()
  }
}

/** The answer is printed as soon as it is there, before it is spoken. */
function printer({ json }: AnswerFlags): VoiceBus {
  return {
    transcription: ({ source, text }) => {
      if (source === 'audio' && text !== '') terminal.say(`Heard: ${text}`)
    },
    response: response => {
      const { text, outcome, error } = response
      if (json) return terminal.print(JSON.stringify(response))
      if (text !== '') terminal.print(text)
      if (outcome !== 'answered' && error !== undefined) terminal.say(`No answer: ${error}`)
    },
  }
}
