import { type Clock, systemClock } from 'toolpost'
import { FRAME_SAMPLES, GOES_ON_PROBABILITY, type SpeechDetector } from '../speech-to-text/speech-detector.ts'
import { Recorder, type RecorderCommand } from './recorder.ts'
import { readPcm, writePcm } from './samples.ts'
import { UtteranceCutter } from './utterance-cutter.ts'

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
/** About a fifth of a second. */
const QUIET_FRAMES_AFTER_DEAF = 6

export interface Listening {
  /** Resolves with the first sound; rejects with the reason if the first run ends without any. Retries go on either way. */
  readonly ready: Promise<void>
  /** Resolves when the recorder has exited; nothing is reported once this is called. */
  close(): Promise<void>
}

/**
 * Listens until closed, and reports one utterance after another. If the detector is slow, the recorder has to
 * wait, so that nothing piles up here.
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

/** Runs each frame through the detector and cuts the stream into utterances. */
class MicrophoneListener {
  readonly #options: MicrophoneOptions
  /** The beginning of a frame. */
  #rest: Uint8Array = new Uint8Array(0)
  readonly #cutter = new UtteranceCutter()
  readonly #clock: Clock
  #isClosed = false
  #hasProblem = false
  #wasMuted = false
  #deafUntilMs = 0
  /** Quiet frames still required after being deaf. */
  #wantedQuietFrames = 0

  constructor(options: MicrophoneOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  async take(bytes: Uint8Array): Promise<void> {
    const all = Buffer.concat([this.#rest, bytes])
    const whole = all.length - (all.length % FRAME_BYTES)
    this.#rest = all.subarray(whole)
    for (let at = 0; at < whole && !this.#isClosed; at += FRAME_BYTES)
      await this.#hear(readPcm(all.subarray(at, at + FRAME_BYTES)))
  }

  /** Speech in progress is still reported. */
  ended(reason: string): void {
    this.#report(this.#cutter.flush())
    this.#rest = new Uint8Array(0)
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

  /** Half a sentence means something else: speech that began while deaf is skipped until there is a pause. */
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
