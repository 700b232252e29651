import { SAMPLE_RATE } from '../audio/samples.ts'
import { FRAME_SAMPLES } from '../audio/utterance-cutter.ts'
import { GOES_ON_PROBABILITY, START_PROBABILITY } from './speech-detector.ts'

/** A part of a recording, in samples or frames; `end` is exclusive. */
export interface Piece {
  start: number
  end: number
}

/** Shorter pauses are between words. */
const PAUSE_FRAMES = framesOf(0.3)
/** Anything shorter is a click or a cough. */
const LEAST_SPEECH_FRAMES = framesOf(0.12)
/** Speech further apart is transcribed separately: the model does best with one sentence. */
const FAR_APART_FRAMES = framesOf(1)
const LONGEST_FRAMES = framesOf(18)
/** A piece that must be cut is cut in the second half of the maximum length. */
const CUT_FROM_FRAMES = Math.floor(LONGEST_FRAMES / 2)
/** Kept around speech, because its soft beginnings and ends are not detected. */
const MARGIN_FRAMES = framesOf(0.3)

function framesOf(seconds: number): number {
  return Math.round((seconds * SAMPLE_RATE) / FRAME_SAMPLES)
}

/** The parts of a recording that contain speech, each short enough for the model; empty if there is none. */
export function speechPieces(samples: Float32Array, probabilities: readonly number[]): Piece[] {
  const short = speechOf(probabilities).flatMap(piece => cut(piece, samples, probabilities))
  return withMargins(join(short), probabilities.length).map(({ start, end }) => ({
    start: start * FRAME_SAMPLES,
    end: Math.min(end * FRAME_SAMPLES, samples.length),
  }))
}

/** From a frame that is certainly speech until a pause; pieces that are too short are dropped. */
function speechOf(probabilities: readonly number[]): Piece[] {
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

/** Cuts long speech where it is least like speech, else where it is quietest. */
function cut(piece: Piece, samples: Float32Array, probabilities: readonly number[]): Piece[] {
  const pieces: Piece[] = []
  let { start } = piece
  while (piece.end - start > LONGEST_FRAMES) {
    const window = { start: start + CUT_FROM_FRAMES, end: start + LONGEST_FRAMES }
    const place = leastBy(window, frame => probabilities[frame] ?? 0)
    const isPause = (probabilities[place] ?? 0) < GOES_ON_PROBABILITY
    const end = isPause ? place : leastBy(window, frame => energyAround(samples, frame))
    pieces.push({ start, end })
    start = end
  }
  return [...pieces, { start, end: piece.end }]
}

function leastBy({ start, end }: Piece, measure: (frame: number) => number): number {
  const measures = Array.from({ length: end - start }, (_, index) => measure(start + index))
  return start + measures.indexOf(measures.reduce((least, value) => Math.min(least, value)))
}

/** Over three frames, so that a zero crossing does not count as quiet. */
function energyAround(samples: Float32Array, frame: number): number {
  const around = samples.subarray((frame - 1) * FRAME_SAMPLES, (frame + 2) * FRAME_SAMPLES)
  return around.reduce((sum, sample) => sum + sample * sample, 0)
}

/** Joins neighbours that belong together and fit into one piece. */
function join(pieces: Piece[]): Piece[] {
  const joined: Piece[] = []
  for (const piece of pieces) {
    const last = joined.at(-1)
    if (last && piece.start - last.end < FAR_APART_FRAMES && piece.end - last.start <= LONGEST_FRAMES)
      last.end = piece.end
    else joined.push({ ...piece })
  }
  return joined
}

/** Neighbours split the gap between them, so that nothing is heard twice. */
function withMargins(pieces: Piece[], frames: number): Piece[] {
  return pieces.map(({ start, end }, index) => {
    const before = index === 0 ? start : (start - (pieces[index - 1]?.end ?? 0)) / 2
    const after = ((pieces[index + 1]?.start ?? Number.POSITIVE_INFINITY) - end) / 2
    return {
      start: Math.max(0, start - Math.min(MARGIN_FRAMES, Math.floor(before))),
      end: Math.min(frames, end + Math.min(MARGIN_FRAMES, Math.floor(after))),
    }
  })
}
