import { SAMPLE_RATE } from './samples.ts'

/** Zero crossings of the sinc on each side: more is sharper and slower. */
const ZERO_CROSSINGS = 8
/** Share of the band that is kept; the rest is the slope of the filter. */
const PASSBAND = 0.9
/** Shape of the Kaiser window: about 80 dB down outside of the band. */
const KAISER_BETA = 8
/** Rates with a large denominator share this many positions between two samples. */
const MOST_PHASES = 1_024

/** Samples of another rate at 16 kHz, without the tones that 16 kHz cannot carry. 16 kHz passes as it is. */
export function resample(samples: Float32Array, rate: number): Float32Array {
  if (rate === SAMPLE_RATE) return samples
  const filter = makeFilter(rate)
  const padded = new Float32Array(samples.length + 2 * filter.taps)
  padded.set(samples, filter.taps)
  const output = new Float32Array(Math.max(1, Math.round((samples.length * SAMPLE_RATE) / rate)))
  fill(output, padded, { ...filter, step: rate / SAMPLE_RATE })
  return output
}

interface Filter {
  taps: number
  halfTaps: number
  phases: number
  /** `taps` weights for each phase, and once more for the phase that is the next sample. */
  weights: Float32Array
}

/**
 * Makes each sample the weighted sum of those around its place, whose fraction is rounded to a phase. All in one
 * loop, with four sums that do not wait for each other: long recordings pass here.
 */
function fill(output: Float32Array, padded: Float32Array, filter: Filter & { step: number }): void {
  const { taps, halfTaps, phases, weights, step } = filter
  const at = (list: Float32Array, index: number) => list[index] as number
  for (let index = 0; index < output.length; index++) {
    const place = index * step + taps - halfTaps
    const first = Math.floor(place)
    let weight = Math.round((place - first) * phases) * taps
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let from = first + 1; from <= first + taps; from += 4, weight += 4) {
      a += at(padded, from) * at(weights, weight)
      b += at(padded, from + 1) * at(weights, weight + 1)
      c += at(padded, from + 2) * at(weights, weight + 2)
      d += at(padded, from + 3) * at(weights, weight + 3)
    }
    output[index] = Math.max(-1, Math.min(1, a + b + c + d))
  }
}

function makeFilter(rate: number): Filter {
  const cutoff = PASSBAND * Math.min(1, SAMPLE_RATE / rate)
  // Even, because four taps are taken at a time.
  const halfTaps = 2 * Math.ceil(ZERO_CROSSINGS / cutoff / 2)
  const taps = 2 * halfTaps
  const phases = Math.min(MOST_PHASES, SAMPLE_RATE / greatestCommonDivisor(SAMPLE_RATE, rate))
  const weights = new Float32Array((phases + 1) * taps)
  for (let phase = 0; phase <= phases; phase++)
    weights.set(phaseWeights({ taps, halfTaps, cutoff, fraction: phase / phases }), phase * taps)
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
