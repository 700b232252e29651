/** Hears whether somebody speaks, in a stream of frames of 512 samples (32 ms). */
export interface SpeechDetector {
  /** How likely it is that somebody speaks in this frame, from 0 to 1. Frames are asked about in their order. */
  probability(frame: Float32Array): Promise<number>
  /** A new stream begins: what was heard before says nothing about it. */
  reset(): void
}

/** From this probability on somebody begins to speak. */
export const START_PROBABILITY = 0.5
/** Somebody who speaks goes on speaking while it is no lower than this. */
export const GOES_ON_PROBABILITY = 0.35
