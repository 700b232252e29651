import { SAMPLE_RATE } from '../audio/wav.ts'
import { openModel, type Runtime } from './moonshine-model.ts'

/** The frame size of the speech detector: 32 ms. */
export const FRAME_SAMPLES = 512
/** Speech begins at this probability. */
export const START_PROBABILITY = 0.5
/** Speech continues while the probability is at least this. */
export const GOES_ON_PROBABILITY = 0.35

/** Detects speech in a stream of frames. */
export interface SpeechDetector {
  /** The probability of speech in this frame, from 0 to 1. Frames must be passed in order. */
  probability(frame: Float32Array): Promise<number>
  /** Starts a new stream, independent of what was heard before. */
  reset(): void
}

/** A part of a recording, in samples or frames; `end` is exclusive. */
export interface Piece {
  start: number
  end: number
}

/** The model sees the end of the previous frame, so that a sound across the boundary is whole. */
const CONTEXT_SAMPLES = 64
/** Shorter pauses are between words. */
const PAUSE_FRAMES = framesOf(0.3)
/** Anything shorter is a click or a cough. */
const LEAST_SPEECH_FRAMES = framesOf(0.12)
/** Speech further apart is transcribed separately: the model does best with one sentence. */
const FAR_APART_FRAMES = framesOf(1)
/** Longer speech is cut where it is least like speech, in the second half of this. */
const LONGEST_FRAMES = framesOf(18)
/** Kept around speech, because its soft beginnings and ends are not detected. */
const MARGIN_FRAMES = framesOf(0.3)

/** Voice activity detection with Silero's model. */
export type Silero = Awaited<ReturnType<typeof loadSilero>>

export async function loadSilero(runtime: Runtime) {
  const { Tensor } = runtime
  const place = { package: '@ricky0123/vad-web', file: './silero_vad_v6.onnx' }
  // So small that a second thread costs more than it gains.
  const session = await openModel(runtime, place, { intraOpNumThreads: 1 })
  const sr = new Tensor('int64', BigInt64Array.of(BigInt(SAMPLE_RATE)), [])

  /** The probability of speech in the next frame of a new stream; a shorter frame is padded with silence. */
  const stream = (): ((frame: Float32Array) => Promise<number>) => {
    let state = new Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
    let context = new Float32Array(CONTEXT_SAMPLES)
    let last: Promise<unknown> = Promise.resolve()
    const next = async (frame: Float32Array) => {
      const samples = new Float32Array(CONTEXT_SAMPLES + FRAME_SAMPLES)
      samples.set(context)
      samples.set(frame.subarray(0, FRAME_SAMPLES), CONTEXT_SAMPLES)
      context = samples.slice(-CONTEXT_SAMPLES)
      const input = new Tensor('float32', samples, [1, samples.length])
      const { output, stateN } = await session.run({ input, state, sr })
      state = stateN as typeof state
      return Number(output?.data[0])
    }
    return frame => {
      const probability = last.then(() => next(frame))
      last = probability.catch(() => {})
      return probability
    }
  }

  /** The parts of a recording that contain speech, each short enough for the model; empty if there is none. */
  const pieces = async (samples: Float32Array, isStopped: () => boolean): Promise<Piece[]> => {
    const probabilityOf = stream()
    const probabilities: number[] = []
    for (let start = 0; start < samples.length && !isStopped(); start += FRAME_SAMPLES)
      probabilities.push(await probabilityOf(samples.subarray(start, start + FRAME_SAMPLES)))
    return speechPieces(probabilities).map(({ start, end }) => ({
      start: start * FRAME_SAMPLES,
      end: Math.min(end * FRAME_SAMPLES, samples.length),
    }))
  }
  return { stream, pieces }
}

function framesOf(seconds: number): number {
  return Math.round((seconds * SAMPLE_RATE) / FRAME_SAMPLES)
}

/** The frames with speech, given the probability of each frame. */
function speechPieces(probabilities: readonly number[]): Piece[] {
  const pieces: Piece[] = []
  for (const piece of speechIn(probabilities).flatMap(piece => cut(piece, probabilities))) {
    const last = pieces.at(-1)
    if (last && piece.start - last.end < FAR_APART_FRAMES && piece.end - last.start <= LONGEST_FRAMES)
      last.end = piece.end
    else pieces.push({ ...piece })
  }
  // Neighbours split the gap between them, so that nothing is heard twice.
  return pieces.map(({ start, end }, index) => {
    const before = index === 0 ? start : (start - (pieces[index - 1]?.end ?? 0)) / 2
    const after = ((pieces[index + 1]?.start ?? Number.POSITIVE_INFINITY) - end) / 2
    return {
      start: Math.max(0, start - Math.min(MARGIN_FRAMES, Math.floor(before))),
      end: Math.min(probabilities.length, end + Math.min(MARGIN_FRAMES, Math.floor(after))),
    }
  })
}

/** From a frame that is certainly speech until a pause; pieces that are too short are dropped. */
function speechIn(probabilities: readonly number[]): Piece[] {
  const found: Piece[] = []
  let current: Piece | undefined
  probabilities.forEach((probability, frame) => {
    if (current && frame - current.end >= PAUSE_FRAMES) current = undefined
    if (!current && probability >= START_PROBABILITY) {
      current = { start: frame, end: frame + 1 }
      found.push(current)
    }
    if (current && probability >= GOES_ON_PROBABILITY) current.end = frame + 1
  })
  return found.filter(({ start, end }) => end - start >= LEAST_SPEECH_FRAMES)
}

function cut({ start, end }: Piece, probabilities: readonly number[]): Piece[] {
  if (end - start <= LONGEST_FRAMES) return [{ start, end }]
  const from = start + Math.floor(LONGEST_FRAMES / 2)
  const window = probabilities.slice(from, start + LONGEST_FRAMES)
  const place = from + window.indexOf(Math.min(...window))
  return [{ start, end: place }, ...cut({ start: place, end }, probabilities)]
}
