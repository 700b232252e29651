/** Detects speech in a stream of frames of 512 samples (32 ms). */
export interface SpeechDetector {
  /** The probability of speech in this frame, from 0 to 1. Frames must be passed in order. */
  probability(frame: Float32Array): Promise<number>
  /** Starts a new stream, independent of what was heard before. */
  reset(): void
}

/** Speech begins at this probability. */
export const START_PROBABILITY = 0.5
/** Speech continues while the probability is at least this. */
export const GOES_ON_PROBABILITY = 0.35
