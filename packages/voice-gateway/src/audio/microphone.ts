import { type Clock, systemClock } from 'toolpost'
import { GOES_ON_PROBABILITY, type SpeechDetector } from '../speech-to-text/speech-detector.ts'
import type { RecorderCommand } from './find-microphone.ts'
import { FrameStream } from './frame-stream.ts'
import { Recorder } from './recorder.ts'
import { UtteranceCutter } from './utterance-cutter.ts'
import { writePcm } from './write-pcm.ts'

export interface MicrophoneOptions {
  /** Writes raw 16 kHz sound to its output; `findMicrophone` knows one. */
  command: RecorderCommand
  detector: SpeechDetector
  /** Something was said: raw PCM, as an utterance takes it. */
  onUtterance(pcm: Uint8Array): void
  /** Told once when listening is disturbed, and again only after it was well in between. */
  onProblem(problem: string): void
  /** While this is true, and shortly after, nothing is heard: the gateway would answer its own voice. */
  isMuted?: (() => boolean) | undefined
  clock?: Clock | undefined
}

/** What the microphone heard last is still on its way, through the buffers of device, recorder and pipe. */
const DEAF_AFTER_MUTED_MS = 300
/** About a fifth of a second. */
const QUIET_FRAMES_AFTER_DEAF = 6

export interface Listening {
  /** Resolves when the recorder gives sound; rejects, in words, when its first run ends without any. It is tried on. */
  readonly ready: Promise<void>
  /** Resolves when the recorder is gone; nothing is reported after it was called. */
  close(): Promise<void>
}

/**
 * Listens until it is closed, and reports what was said, one utterance after the other. Where the detector is
 * slow the recorder has to wait, so that nothing piles up here.
 */
export function listenToMicrophone(options: MicrophoneOptions): Listening {
  const { command, clock = systemClock } = options
  const listener = new MicrophoneListener(options, clock)
  const recorder = new Recorder({
    command,
    clock,
    onBytes: bytes => listener.take(bytes),
    onEnd: reason => listener.ended(reason),
  })
  return {
    ready: recorder.ready,
    close() {
      listener.close()
      return recorder.close()
    },
  }
}

/** Asks the detector about one frame after the other and cuts. */
class MicrophoneListener {
  readonly #options: MicrophoneOptions
  readonly #frames = new FrameStream()
  readonly #cutter = new UtteranceCutter()
  readonly #clock: Clock
  #isClosed = false
  #hasProblem = false
  #wasMuted = false
  #deafUntilMs = 0
  /** Frames of quiet that are still wanted after it was deaf. */
  #wantedQuietFrames = 0

  constructor(options: MicrophoneOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  async take(bytes: Uint8Array): Promise<void> {
    for (const frame of this.#frames.push(bytes)) {
      if (this.#isClosed) return
      await this.#hear(frame)
    }
  }

  /** What was being said is still handed on. */
  ended(reason: string): void {
    this.#report(this.#cutter.flush())
    this.#frames.reset()
    this.#options.detector.reset()
    this.#problem(reason)
  }

  close(): void {
    this.#isClosed = true
  }

  async #hear(frame: Float32Array): Promise<void> {
    if (this.#isDeaf()) return this.#forget()
    try {
      const probability = await this.#options.detector.probability(frame)
      this.#hasProblem = false
      if (this.#isDeaf()) this.#forget()
      else if (!this.#isMidSentence(probability)) this.#report(this.#cutter.push(frame, probability))
    } catch (error) {
      this.#forget()
      this.#problem(`The speech detector failed: ${error instanceof Error ? error.message : error}`)
    }
  }

  #isDeaf(): boolean {
    const isMuted = this.#options.isMuted?.() ?? false
    if (this.#wasMuted && !isMuted) this.#deafUntilMs = this.#clock.now() + DEAF_AFTER_MUTED_MS
    this.#wasMuted = isMuted
    return isMuted || this.#clock.now() < this.#deafUntilMs
  }

  /** Half of a sentence means something else: what began while it was deaf is passed over until somebody pauses. */
  #isMidSentence(probability: number): boolean {
    if (this.#wantedQuietFrames === 0) return false
    this.#wantedQuietFrames =
      probability >= GOES_ON_PROBABILITY ? QUIET_FRAMES_AFTER_DEAF : this.#wantedQuietFrames - 1
    return true
  }

  #forget(): void {
    this.#wantedQuietFrames = QUIET_FRAMES_AFTER_DEAF
    this.#cutter.reset()
    this.#options.detector.reset()
  }

  #report(samples: Float32Array | undefined): void {
    if (samples && !this.#isClosed) this.#options.onUtterance(writePcm(samples))
  }

  #problem(problem: string): void {
    if (this.#hasProblem || this.#isClosed) return
    this.#hasProblem = true
    this.#options.onProblem(problem)
  }
}
