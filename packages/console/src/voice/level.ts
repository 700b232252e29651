/** Shown as silence and as full level, in dBFS. */
const QUIETEST_DB = -55
const LOUDEST_DB = -10

/** The perceived loudness of samples, from 0 to 1. */
export function levelOf(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  const db = 10 * Math.log10(sum / samples.length)
  return Math.min(1, Math.max(0, (db - QUIETEST_DB) / (LOUDEST_DB - QUIETEST_DB))) || 0
}
