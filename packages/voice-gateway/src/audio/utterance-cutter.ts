import { FRAME_SAMPLES, GOES_ON_PROBABILITY, START_PROBABILITY } from '../speech-to-text/speech-detector.ts'
import { SAMPLE_RATE } from './samples.ts'

const FRAME_MS = (FRAME_SAMPLES / SAMPLE_RATE) * 1_000

const END_AFTER_FRAMES = framesOf(600)
/** Kept from before the start, because words begin softly. */
const PRE_ROLL_FRAMES = framesOf(300)
const LEAST_SPEECH_FRAMES = framesOf(250)
const MOST_FRAMES = Math.floor(20_000 / FRAME_MS)

function framesOf(ms: number): number {
  return Math.ceil(ms / FRAME_MS)
}

/** Cuts a stream of frames, each with its probability of speech, into utterances. */
export class UtteranceCutter {
  #frames: Float32Array[] = []
  #isSpeaking = false
  #speechFrames = 0
  #quietFrames = 0

  /** Adds the next frame; returns an utterance if one ends with it. */
  push(frame: Float32Array, probability: number): Float32Array | undefined {
    this.#frames.push(frame)
    if (!this.#isSpeaking && probability >= START_PROBABILITY) this.#isSpeaking = true
    if (!this.#isSpeaking) {
      if (this.#frames.length > PRE_ROLL_FRAMES) this.#frames.shift()
      return undefined
    }
    return this.#goOn(probability)
  }

  /** The speech in progress when the stream ended. */
  flush(): Float32Array | undefined {
    return this.#isSpeaking ? this.#end() : this.reset()
  }

  /** Drops everything. */
  reset(): undefined {
    this.#frames = []
    this.#isSpeaking = false
    this.#speechFrames = 0
    this.#quietFrames = 0
  }

  #goOn(probability: number): Float32Array | undefined {
    const isSpeech = probability >= GOES_ON_PROBABILITY
    if (isSpeech) this.#speechFrames++
    this.#quietFrames = isSpeech ? 0 : this.#quietFrames + 1
    if (this.#quietFrames >= END_AFTER_FRAMES) return this.#end()
    if (this.#frames.length < MOST_FRAMES) return undefined
    const utterance = this.#end()
    // If somebody is still speaking, the next utterance begins right away.
    this.#isSpeaking = isSpeech
    return utterance
  }

  #end(): Float32Array | undefined {
    const enough = this.#speechFrames >= LEAST_SPEECH_FRAMES
    const utterance = enough ? Float32Array.from(this.#frames.flatMap(frame => [...frame])) : undefined
    this.reset()
    return utterance
  }
}
