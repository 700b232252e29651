import { breather } from './breather.ts'
import type { SampleSource } from './decode-samples.ts'
import { SAMPLE_RATE } from './samples.ts'

/** Zero crossings of the sinc on each side: more is sharper and slower. */
const ZERO_CROSSINGS = 8
/** Share of the band that is kept; the rest is the filter's slope. */
const PASSBAND = 0.9
/** Shape of the Kaiser window: about 80 dB down outside the band. */
const KAISER_BETA = 8
/** Rates with a large denominator share this many positions between two samples. */
const MOST_PHASES = 1_024

/** At most this many samples are produced at a time, which takes about a millisecond. */
const SLICE_SAMPLES = 2_048
/** Sound with many channels or a high rate is read in shorter slices, of about this many values. */
const SLICE_NUMBERS = 32_768
const LEAST_SLICE_SAMPLES = 32

export interface ResampleOptions {
  rate: number
  channels?: number | undefined
}

/**
 * Converts sound to 16 kHz without aliasing; 16 kHz passes unchanged. Reads and works in slices, so that only
 * the result is held in memory, and yields in between.
 */
export async function resample(source: SampleSource, options: ResampleOptions): Promise<Float32Array> {
  const { rate, channels = 1 } = options
  const step = rate / SAMPLE_RATE
  const output = new Float32Array(outputLength(source.length, step))
  const length = Math.min(sliceLength(step * channels), output.length)
  const breathe = breather()
  const fill = rate === SAMPLE_RATE ? source.read : await resampler({ source, rate, step, length })
  for (let start = 0; start < output.length; start += length) {
    fill(output.subarray(start, start + length), start)
    await breathe()
  }
  return output
}

/** A sound that is not empty never becomes empty. */
function outputLength(length: number, step: number): number {
  return length === 0 ? 0 : Math.max(1, Math.round(length / step))
}

function sliceLength(numbersPerSample: number): number {
  const wanted = Math.floor(SLICE_NUMBERS / numbersPerSample)
  return Math.max(LEAST_SLICE_SAMPLES, Math.min(SLICE_SAMPLES, wanted))
}

interface Filter {
  taps: number
  halfTaps: number
  phases: number
  /** `taps` weights per phase, and once more for the phase that is the next sample. */
  weights: Float32Array
}

interface ResamplerOptions {
  source: SampleSource
  rate: number
  step: number
  /** The most samples requested at a time. */
  length: number
}

/** A function that fills the slice of the output that begins at sample `start`. */
async function resampler(options: ResamplerOptions): Promise<SampleSource['read']> {
  const { source, rate, step, length } = options
  const filter = await makeFilter(rate)
  const heard = new Float32Array(Math.ceil(length * step) + filter.taps + 1)
  return (slice, start) => {
    const place = start * step
    source.read(heard, Math.floor(place) + 1 - filter.halfTaps)
    convolve(slice, heard, { ...filter, step, place: place % 1 })
  }
}

/**
 * Makes each sample the weighted sum of those around its position, whose fraction is rounded to a phase. One loop
 * with four independent sums, because long recordings pass through here.
 */
function convolve(
  slice: Float32Array,
  heard: Float32Array,
  filter: Filter & { step: number; place: number },
): void {
  const { taps, phases, weights, step } = filter
  const at = (list: Float32Array, index: number) => list[index] as number
  for (let index = 0; index < slice.length; index++) {
    const place = filter.place + index * step
    const first = Math.floor(place)
    let weight = Math.round((place - first) * phases) * taps
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let from = first; from < first + taps; from += 4, weight += 4) {
      a += at(heard, from) * at(weights, weight)
      b += at(heard, from + 1) * at(weights, weight + 1)
      c += at(heard, from + 2) * at(weights, weight + 2)
      d += at(heard, from + 3) * at(weights, weight + 3)
    }
    slice[index] = Math.max(-1, Math.min(1, a + b + c + d))
  }
}

async function makeFilter(rate: number): Promise<Filter> {
  const cutoff = PASSBAND * Math.min(1, SAMPLE_RATE / rate)
  // Even, because four taps are processed at a time.
  const halfTaps = 2 * Math.ceil(ZERO_CROSSINGS / cutoff / 2)
  const taps = 2 * halfTaps
  const phases = Math.min(MOST_PHASES, SAMPLE_RATE / greatestCommonDivisor(SAMPLE_RATE, rate))
  const weights = new Float32Array((phases + 1) * taps)
  const breathe = breather()
  for (let phase = 0; phase <= phases; phase++) {
    weights.set(phaseWeights({ taps, halfTaps, cutoff, fraction: phase / phases }), phase * taps)
    await breathe()
  }
  return { taps, halfTaps, phases, weights }
}

/** Weights that add up to 1, so that no phase is louder than another. */
function phaseWeights(options: {
  taps: number
  halfTaps: number
  cutoff: number
  fraction: number
}): number[] {
  const { taps, halfTaps, cutoff, fraction } = options
  const weights = Array.from({ length: taps }, (_, tap) => {
    const distance = tap + 1 - halfTaps - fraction
    return sinc(distance * cutoff) * kaiser(distance / halfTaps)
  })
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map(weight => weight / sum)
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function kaiser(position: number): number {
  return Math.abs(position) >= 1
    ? 0
    : bessel(KAISER_BETA * Math.sqrt(1 - position * position)) / bessel(KAISER_BETA)
}

/** The modified Bessel function of order zero, as its series. */
function bessel(x: number): number {
  let sum = 1
  for (let term = 1, k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
