import { secondsOf } from './samples.ts'

const SHORTEST_SECONDS = 0.3
const LONGEST_MINUTES = 15
/** -50 dBFS: the loudest moment of a voice that can be understood is above, the hum of an open input below. */
const QUIETEST_PEAK = 10 ** (-50 / 20)
/** -70 dBFS: below, a peak was a single click in silence. */
const QUIETEST_LEVEL = 10 ** (-70 / 20)

/** Why a recording is not worth transcribing, in words; undefined where it is. */
export function reasonToDrop(samples: Float32Array): string | undefined {
  const seconds = secondsOf(samples)
  if (samples.length === 0) return 'the recording is empty'
  if (seconds < SHORTEST_SECONDS) return `the recording is only ${roundedDown(seconds)} s long`
  if (seconds > LONGEST_MINUTES * 60) return `the recording is longer than ${LONGEST_MINUTES} minutes`
  const { peak, level } = loudness(samples)
  if (peak === 0) return 'the recording is silent'
  if (peak < QUIETEST_PEAK || level < QUIETEST_LEVEL)
    return `the recording is too quiet (${decibels(peak)} dB at its loudest)`
  return undefined
}

/** Measured from the mean, because a cheap input may add a constant. */
function loudness(samples: Float32Array): { peak: number; level: number } {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length
  let peak = 0
  let power = 0
  for (const sample of samples) {
    const distance = Math.abs(sample - mean)
    if (distance > peak) peak = distance
    power += distance * distance
  }
  return { peak, level: Math.sqrt(power / samples.length) }
}

function decibels(amplitude: number): number {
  return Math.round(20 * Math.log10(amplitude))
}

/** Never up to the limit that it missed. */
function roundedDown(seconds: number): string {
  return (Math.floor(seconds * 10) / 10).toFixed(1)
}
