import { findMicrophone } from '../audio/find-microphone.ts'
import { listenToMicrophone } from '../audio/microphone.ts'
import type { BackgroundTranscriber } from '../background-transcriber.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import type { VoiceContext } from './start-voice.ts'
import type { WatchedSpeaker } from './watched-speaker.ts'

interface MicrophoneParts {
  transcriber: BackgroundTranscriber
  hearing: Transcriber
  speaker: WatchedSpeaker | undefined
}

/** Listens to the microphone, where there is one. It is deaf to what the gateway says itself. */
export function startMicrophone(
  context: VoiceContext,
  { transcriber, hearing, speaker }: MicrophoneParts,
): void {
  const { config, parts, closables, logger, onNotice, clock } = context
  const { microphone = true, bargeIn = false } = config.voice ?? {}
  if (!microphone) return
  parts.begin('microphone', async () => {
    const found = await findMicrophone()
    if ('missing' in found) throw new Error(found.missing)
    const ears = earsOf(hearing, context)
    await ears.ready()
    if (closables.isClosed) return undefined
    const listening = listenToMicrophone({
      command: found.command,
      detector: ears.speechDetector(),
      isMuted: () => !bargeIn && speaker?.isPlaying === true,
      onUtterance: pcm => void transcriber.take({ pcm, conversation: 'microphone', overheard: true }),
      onProblem: problem => {
        logger.warn({ problem }, 'The microphone is disturbed')
        onNotice(`The microphone is disturbed: ${problem}`)
      },
      clock,
    })
    closables.add(listening)
    await listening.ready
    return found.command.command
  })
}

/** What finds speech in the sound; it is a part of the embedded model. */
function earsOf(hearing: Transcriber, { logger, closables }: VoiceContext): MoonshineTranscriber {
  if (hearing instanceof MoonshineTranscriber) return hearing
  return closables.add(new MoonshineTranscriber({ logger }))
}
