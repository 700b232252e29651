import { type Clock, systemClock } from 'toolpost'
import {
  FRAME_SAMPLES,
  GOES_ON_PROBABILITY,
  type SpeechDetector,
  START_PROBABILITY,
} from '../speech-to-text/speech-detector.ts'
import { Recorder, type RecorderCommand } from './recorder.ts'
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

export interface Listening {
  /** Resolves with the first sound; rejects with the reason if the first run ends without any. Retries go on either way. */
  readonly ready: Promise<void>
  /** Resolves when the recorder has exited; nothing is reported once this is called. */
  close(): Promise<void>
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
 * wait, so that nothing piles up here.
 */
export function listenToMicrophone(options: MicrophoneOptions): Listening {
  const { command, clock = systemClock } = options
  const listener = new MicrophoneListener(options, clock)
  const onBytes = (bytes: Uint8Array) => listener.take(bytes)
  const recorder = new Recorder({ command, clock, onBytes, onEnd: reason => listener.ended(reason) })
  const close = () => {
    listener.isClosed = true
    return recorder.close()
  }
  return { ready: recorder.ready, close }
}

/** Runs each frame through the detector and cuts the stream into utterances. */
class MicrophoneListener {
  isClosed = false
  readonly #options: MicrophoneOptions
  readonly #clock: Clock
  /** The beginning of a frame. */
  #rest: Uint8Array = new Uint8Array(0)
  /** The utterance so far, or what came just before it. */
  #frames: Float32Array[] = []
  #isSpeaking = false
  #speechFrames = 0
  #quietFrames = 0
  #hasProblem = false
  #wasMuted = false
  #deafUntilMs = 0
  /** Quiet frames still required after being deaf: half a sentence means something else. */
  #wantedQuietFrames = 0

  constructor(options: MicrophoneOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  async take(bytes: Uint8Array): Promise<void> {
    const all = Buffer.concat([this.#rest, bytes])
    const whole = all.length - (all.length % FRAME_BYTES)
    this.#rest = all.subarray(whole)
    for (let at = 0; at < whole && !this.isClosed; at += FRAME_BYTES)
      await this.#hear(readPcm(all.subarray(at, at + FRAME_BYTES)))
  }

  /** Speech in progress is still reported. */
  ended(reason: string): void {
    if (this.#isSpeaking) this.#report()
    this.#reset()
    this.#rest = new Uint8Array(0)
    this.#problem(reason)
  }

  async #hear(frame: Float32Array): Promise<void> {
    if (this.#isDeaf()) return this.#forget()
    try {
      const probability = await this.#options.detector.probability(frame)
      this.#hasProblem = false
      if (this.#isDeaf()) this.#forget()
      else if (this.#wantedQuietFrames === 0) this.#push(frame, probability)
      else if (probability >= GOES_ON_PROBABILITY) this.#wantedQuietFrames = QUIET_FRAMES_AFTER_DEAF
      else this.#wantedQuietFrames--
    } catch (error) {
      this.#forget()
      this.#problem(`The speech detector failed: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Adds the next frame; reports an utterance if one ends with it. */
  #push(frame: Float32Array, probability: number): void {
    this.#frames.push(frame)
    this.#isSpeaking ||= probability >= START_PROBABILITY
    if (!this.#isSpeaking) {
      if (this.#frames.length > PRE_ROLL_FRAMES) this.#frames.shift()
      return
    }
    const isSpeech = probability >= GOES_ON_PROBABILITY
    if (isSpeech) this.#speechFrames++
    this.#quietFrames = isSpeech ? 0 : this.#quietFrames + 1
    if (this.#quietFrames < END_AFTER_FRAMES && this.#frames.length < MOST_FRAMES) return
    this.#report()
    // If somebody is still speaking, the next utterance begins right away.
    this.#isSpeaking = isSpeech
  }

  #isDeaf(): boolean {
    const isMuted = this.#options.isMuted?.() ?? false
    if (this.#wasMuted && !isMuted) this.#deafUntilMs = this.#clock.now() + DEAF_AFTER_MUTED_MS
    this.#wasMuted = isMuted
    return isMuted || this.#clock.now() < this.#deafUntilMs
  }

  #forget(): void {
    this.#wantedQuietFrames = QUIET_FRAMES_AFTER_DEAF
    this.#reset()
  }

  #reset(): void {
    this.#clear()
    this.#options.detector.reset()
  }

  #clear(): void {
    this.#frames = []
    this.#isSpeaking = false
    this.#speechFrames = 0
    this.#quietFrames = 0
  }

  #report(): void {
    const samples = this.#frames.flatMap(frame => [...frame])
    const isSpeech = this.#speechFrames >= LEAST_SPEECH_FRAMES && !this.isClosed
    this.#clear()
    if (isSpeech) this.#options.onUtterance(writePcm(Float32Array.from(samples)))
  }

  #problem(problem: string): void {
    if (this.#hasProblem || this.isClosed) return
    this.#hasProblem = true
    this.#options.onProblem(problem)
  }
}

function framesOf(ms: number): number {
  return Math.ceil((ms * SAMPLE_RATE) / 1_000 / FRAME_SAMPLES)
}
