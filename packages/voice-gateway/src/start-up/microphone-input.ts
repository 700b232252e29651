import type { Clock } from 'toolpost'
import { findMicrophone } from '../audio/find-microphone.ts'
import { listenToMicrophone } from '../audio/microphone.ts'
import type { BackgroundTranscriber } from '../background-transcriber.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import type { VoiceContext } from './start-voice.ts'
import type { WatchedSpeaker } from './watched-speaker.ts'

const FIRST_SOUND_MS = 3_000

interface MicrophoneParts {
  transcriber: BackgroundTranscriber
  hearing: Transcriber
  speaker: WatchedSpeaker | undefined
}

/** Listens to the microphone, if there is one, ignoring what the gateway itself says. */
export function startMicrophone(
  context: VoiceContext,
  { transcriber, hearing, speaker }: MicrophoneParts,
): void {
  const { voice, parts, closables, logger, onNotice, clock } = context
  const { microphone = true, bargeIn = false } = voice
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
        logger.warn({ problem }, 'Microphone problem')
        onNotice(`Microphone problem: ${problem}`)
      },
      clock,
    })
    closables.add(listening)
    await firstSound(listening.ready, clock)
    return found.command.command
  })
}

/** A recorder that opens the device and then sends nothing must not hold up `ready()`. */
function firstSound(ready: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const silent = () => reject(new Error(`the recorder sent no sound within ${FIRST_SOUND_MS / 1_000} s`))
    const timer = clock.setTimer(silent, FIRST_SOUND_MS)
    ready.then(resolve, reject).finally(() => timer.cancel())
  })
}

/** The speech detector, which is part of the embedded model. */
function earsOf(hearing: Transcriber, { logger, closables }: VoiceContext): MoonshineTranscriber {
  if (hearing instanceof MoonshineTranscriber) return hearing
  return closables.add(new MoonshineTranscriber({ logger }))
}
