import { breather } from './breather.ts'
import { tooLong } from './recording-length.ts'
import { secondsOf } from './samples.ts'

const SHORTEST_SECONDS = 0.3
/** -50 dBFS: the peak of intelligible speech is above it, the hum of an open input below. */
const QUIETEST_PEAK = 10 ** (-50 / 20)
/** -70 dBFS: below it, the peak was a single click in silence. */
const QUIETEST_LEVEL = 10 ** (-70 / 20)
const SLICE_SAMPLES = 32_768

/** Why a recording is not worth transcribing; undefined if it is. */
export async function reasonToDrop(samples: Float32Array): Promise<string | undefined> {
  return wrongLength(samples) ?? tooQuiet(await loudness(samples))
}

function wrongLength(samples: Float32Array): string | undefined {
  const seconds = secondsOf(samples)
  if (samples.length === 0) return 'the recording is empty'
  if (seconds < SHORTEST_SECONDS) return `the recording is only ${roundedDown(seconds)} s long`
  return tooLong(seconds)
}

interface Loudness {
  peak: number
  level: number
}

function tooQuiet({ peak, level }: Loudness): string | undefined {
  if (peak === 0) return 'the recording is silent'
  if (peak < QUIETEST_PEAK || level < QUIETEST_LEVEL)
    return `the recording is too quiet (${decibels(peak)} dB at its loudest)`
  return undefined
}

/** Relative to the mean, because a cheap input may add a DC offset. In slices, because a recording may be long. */
async function loudness(samples: Float32Array): Promise<Loudness> {
  const sums: Sums = { sum: 0, squares: 0, lowest: 1, highest: -1 }
  const breathe = breather()
  for (let start = 0; start < samples.length; start += SLICE_SAMPLES) {
    add(sums, samples.subarray(start, start + SLICE_SAMPLES))
    await breathe()
  }
  const mean = sums.sum / samples.length
  const power = sums.squares / samples.length - mean * mean
  return {
    peak: Math.max(sums.highest - mean, mean - sums.lowest),
    level: Math.sqrt(Math.max(0, power)),
  }
}

interface Sums {
  sum: number
  squares: number
  lowest: number
  highest: number
}

function add(sums: Sums, samples: Float32Array): void {
  let { sum, squares, lowest, highest } = sums
  for (const sample of samples) {
    sum += sample
    squares += sample * sample
    if (sample < lowest) lowest = sample
    if (sample > highest) highest = sample
  }
  Object.assign(sums, { sum, squares, lowest, highest })
}

function decibels(amplitude: number): number {
  return Math.round(20 * Math.log10(amplitude))
}

/** Rounded down, so that it never shows the limit it missed. */
function roundedDown(seconds: number): string {
  return (Math.floor(seconds * 10) / 10).toFixed(1)
}
