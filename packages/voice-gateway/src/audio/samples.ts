/** The input of speech models: one channel at this rate, each sample from -1 to 1. */
export const SAMPLE_RATE = 16_000

const SHORTEST_SECONDS = 0.3
const LONGEST_MINUTES = 15
/** -50 dBFS: the peak of intelligible speech is above it, the hum of an open input below. */
const QUIETEST_PEAK = 10 ** (-50 / 20)
/** -70 dBFS: below it, the peak was a single click in silence. */
const QUIETEST_LEVEL = 10 ** (-70 / 20)

/** Audio that cannot be used. The message says why, and what to send instead. */
export class AudioError extends Error {
  override name = 'AudioError'
}

export function secondsOf(samples: Float32Array): number {
  return samples.length / SAMPLE_RATE
}

/** Raw sound (16 kHz, mono, 16 bits, little-endian) as samples. An incomplete last sample is dropped. */
export function readPcm(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return new Float32Array(Math.floor(bytes.length / 2)).map((_, at) => view.getInt16(at * 2, true) / 32_768)
}

/** Samples as raw sound: 16 bits, little-endian, clipped. */
export function writePcm(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * 2)
  const view = new DataView(bytes.buffer)
  samples.forEach((sample, at) => {
    view.setInt16(at * 2, Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), true)
  })
  return bytes
}

/** Why a recording of this length is refused; undefined if it is not. */
export function tooLong(seconds: number): string | undefined {
  return seconds > LONGEST_MINUTES * 60
    ? `the recording is longer than ${LONGEST_MINUTES} minutes`
    : undefined
}

/** Why a recording is not worth transcribing; undefined if it is. */
export function reasonToDrop(samples: Float32Array): string | undefined {
  const seconds = secondsOf(samples)
  if (samples.length === 0) return 'the recording is empty'
  // Rounded down, so that it never shows the limit it missed.
  if (seconds < SHORTEST_SECONDS)
    return `the recording is only ${(Math.floor(seconds * 10) / 10).toFixed(1)} s long`
  const { peak, level } = loudness(samples)
  if (peak === 0) return 'the recording is silent'
  if (peak < QUIETEST_PEAK || level < QUIETEST_LEVEL)
    return `the recording is too quiet (${Math.round(20 * Math.log10(peak))} dB at its loudest)`
  return tooLong(seconds)
}

/** Relative to the mean, because a cheap input may add a DC offset. */
function loudness(samples: Float32Array): { peak: number; level: number } {
  let [sum, squares, lowest, highest] = [0, 0, 1, -1]
  for (const sample of samples) {
    sum += sample
    squares += sample * sample
    lowest = Math.min(lowest, sample)
    highest = Math.max(highest, sample)
  }
  const mean = sum / samples.length
  const power = squares / samples.length - mean * mean
  return { peak: Math.max(highest - mean, mean - lowest), level: Math.sqrt(Math.max(0, power)) }
}
