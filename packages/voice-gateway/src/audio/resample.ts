import { setImmediate } from 'node:timers/promises'
import { SAMPLE_RATE } from './wav.ts'

/** Zero crossings of the sinc on each side: more is sharper and slower. */
const ZERO_CROSSINGS = 8
/** Share of the band that is kept; the rest is the filter's slope. */
const PASSBAND = 0.9
/** Positions between two samples that have their own weights. */
const PHASES = 256
/** At most this many samples are produced before everything else gets a turn. */
const SLICE_SAMPLES = 2_048

/** Converts sound to 16 kHz without aliasing; 16 kHz passes unchanged. Yields regularly while converting. */
export async function resample(input: Float32Array, rate: number): Promise<Float32Array> {
  const { length } = input
  const step = rate / SAMPLE_RATE
  if (step === 1) return input
  // A sound that is not empty never becomes empty.
  const output = new Float32Array(Math.max(1, Math.round(length / step)))
  const cutoff = PASSBAND * Math.min(1, 1 / step)
  const half = Math.ceil(ZERO_CROSSINGS / cutoff)
  const weights = Array.from({ length: PHASES + 1 }, (_, phase) => phaseWeights(phase / PHASES, half, cutoff))
  for (let index = 0; index < output.length; index++) {
    const place = index * step
    const first = Math.floor(place)
    const taps = weights[Math.round((place - first) * PHASES)] as Float32Array
    let sum = 0
    for (let tap = 0; tap < taps.length; tap++)
      sum += (input[first + 1 - half + tap] ?? 0) * (taps[tap] as number)
    output[index] = Math.max(-1, Math.min(1, sum))
    if (index % SLICE_SAMPLES === 0) await setImmediate()
  }
  return output
}

/** A windowed sinc whose weights add up to 1, so that no phase is louder than another. */
function phaseWeights(fraction: number, half: number, cutoff: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * half }, (_, tap) => {
    const distance = tap + 1 - half - fraction
    const x = Math.PI * distance * cutoff
    const window = Math.cos((Math.PI * Math.min(1, Math.abs(distance) / half)) / 2) ** 2
    return (x === 0 ? 1 : Math.sin(x) / x) * window
  })
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map(weight => weight / sum)
}
