/** The input of speech models: one channel at this rate, each sample from -1 to 1. */
export const SAMPLE_RATE = 16_000

export function secondsOf(samples: Float32Array): number {
  return samples.length / SAMPLE_RATE
}

/** Audio that cannot be used. The message says why, and what to send instead. */
export class AudioError extends Error {
  override name = 'AudioError'
}
