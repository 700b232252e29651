import { type Clock, systemClock } from 'toolpost'
import {
  FRAME_SAMPLES,
  GOES_ON_PROBABILITY,
  type SpeechDetector,
  START_PROBABILITY,
} from '../speech-to-text/speech-detector.ts'
import { type RecorderCommand, startRecorder } from './recorder.ts'
import { readPcm, SAMPLE_RATE, writePcm } from './wav.ts'

export interface MicrophoneOptions {
  /** Writes raw 16 kHz sound to stdout; see `findMicrophone`. */
  command: RecorderCommand
  detector: SpeechDetector
  /** Called with each utterance, as raw PCM. */
  onUtterance(pcm: Uint8Array): void
  /** Called once when listening fails, and again only after it has worked in between. */
  onProblem(problem: string): void
  /** While true, and shortly after, nothing is heard: the gateway would answer its own voice. */
  isMuted?: (() => boolean) | undefined
  clock?: Clock | undefined
}

const FRAME_BYTES = FRAME_SAMPLES * 2
/** The last sound is still on its way through the buffers of device, recorder and pipe. */
const DEAF_AFTER_MUTED_MS = 300
const QUIET_FRAMES_AFTER_DEAF = framesOf(200)
const END_AFTER_FRAMES = framesOf(600)
/** Kept from before the start, because words begin softly. */
const PRE_ROLL_FRAMES = framesOf(300)
const LEAST_SPEECH_FRAMES = framesOf(250)
const MOST_FRAMES = framesOf(20_000)

/**
 * Listens until closed, and reports one utterance after another. If the detector is slow, the recorder has to
 * wait, so that nothing piles up here. `ready` is that of the recorder; nothing is reported once `close` is called.
 */
export function listenToMicrophone(options: MicrophoneOptions) {
  const { command, detector, onUtterance, onProblem, isMuted = () => false, clock = systemClock } = options
  /** The beginning of a frame. */
  let rest = Buffer.alloc(0)
  /** The utterance so far, or what came just before it. */
  let frames: Float32Array[] = []
  let isSpeaking = false
  let speechFrames = 0
  let quietFrames = 0
  let hasProblem = false
  let wasMuted = false
  let deafUntilMs = 0
  /** Quiet frames still required after being deaf: half a sentence means something else. */
  let wantedQuietFrames = 0
  let isClosed = false

  const tellProblem = (problem: string) => {
    if (!hasProblem && !isClosed) onProblem(problem)
    hasProblem = true
  }
  const isDeaf = () => {
    const isMutedNow = isMuted()
    if (wasMuted && !isMutedNow) deafUntilMs = clock.now() + DEAF_AFTER_MUTED_MS
    wasMuted = isMutedNow
    return isMutedNow || clock.now() < deafUntilMs
  }
  const clear = () => {
    frames = []
    isSpeaking = false
    speechFrames = quietFrames = 0
  }
  const forget = () => {
    clear()
    detector.reset()
    wantedQuietFrames = QUIET_FRAMES_AFTER_DEAF
  }
  const report = () => {
    const samples = Float32Array.from(frames.flatMap(frame => [...frame]))
    const isSpeech = speechFrames >= LEAST_SPEECH_FRAMES && !isClosed
    clear()
    if (isSpeech) onUtterance(writePcm(samples))
  }
  /** Adds the next frame; reports an utterance if one ends with it. */
  const push = (frame: Float32Array, probability: number) => {
    frames.push(frame)
    isSpeaking ||= probability >= START_PROBABILITY
    if (!isSpeaking) {
      if (frames.length > PRE_ROLL_FRAMES) frames.shift()
      return
    }
    const isSpeech = probability >= GOES_ON_PROBABILITY
    if (isSpeech) speechFrames++
    quietFrames = isSpeech ? 0 : quietFrames + 1
    if (quietFrames < END_AFTER_FRAMES && frames.length < MOST_FRAMES) return
    report()
    // If somebody is still speaking, the next utterance begins right away.
    isSpeaking = isSpeech
  }
  const hear = async (frame: Float32Array) => {
    if (isDeaf()) return forget()
    try {
      const probability = await detector.probability(frame)
      hasProblem = false
      if (isDeaf()) forget()
      else if (wantedQuietFrames === 0) push(frame, probability)
      else
        wantedQuietFrames =
          probability < GOES_ON_PROBABILITY ? wantedQuietFrames - 1 : QUIET_FRAMES_AFTER_DEAF
    } catch (error) {
      forget()
      tellProblem(`The speech detector failed: ${error instanceof Error ? error.message : error}`)
    }
  }

  const recorder = startRecorder({
    command,
    clock,
    onBytes: async bytes => {
      const all = Buffer.concat([rest, bytes])
      const whole = all.length - (all.length % FRAME_BYTES)
      rest = all.subarray(whole)
      for (let at = 0; at < whole && !isClosed; at += FRAME_BYTES)
        await hear(readPcm(all.subarray(at, at + FRAME_BYTES)))
    },
    // Speech in progress is still reported.
    onEnd: reason => {
      if (isSpeaking) report()
      clear()
      detector.reset()
      rest = Buffer.alloc(0)
      tellProblem(reason)
    },
  })
  const close = () => {
    isClosed = true
    return recorder.close()
  }
  return { ready: recorder.ready, close }
}

function framesOf(ms: number): number {
  return Math.ceil((ms * SAMPLE_RATE) / 1_000 / FRAME_SAMPLES)
}
