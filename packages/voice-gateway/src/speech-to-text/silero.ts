import type { InferenceSession } from 'onnxruntime-common'
import { FRAME_SAMPLES } from '../audio/utterance-cutter.ts'
import { openModel } from './model-session.ts'
import { Tensor } from './onnx-runtime.ts'

const sampleRate = new Tensor('int64', BigInt64Array.of(16_000n), [])
/** The model sees the end of the previous frame, so that a sound across the boundary is whole. */
const CONTEXT_SAMPLES = 64

/** The probability of speech in the next frame of a stream; a shorter frame is padded with silence. */
export type SileroStream = (frame: Float32Array) => Promise<number>

/** Voice activity detection with Silero's model. */
export class Silero {
  readonly #session: InferenceSession

  private constructor(session: InferenceSession) {
    this.#session = session
  }

  static async load(): Promise<Silero> {
    const place = { package: '@ricky0123/vad-web', file: './silero_vad_v6.onnx' }
    // So small that a second thread costs more than it gains.
    return new Silero(await openModel(place, { intraOpNumThreads: 1 }))
  }

  /** A new stream of frames, with its own model state. */
  stream(): SileroStream {
    let state = new Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
    let context = new Float32Array(CONTEXT_SAMPLES)
    let last: Promise<unknown> = Promise.resolve()
    const next = async (frame: Float32Array) => {
      const input = new Float32Array(CONTEXT_SAMPLES + FRAME_SAMPLES)
      input.set(context)
      input.set(frame.subarray(0, FRAME_SAMPLES), CONTEXT_SAMPLES)
      context = input.slice(-CONTEXT_SAMPLES)
      const heard = new Tensor('float32', input, [1, input.length])
      const { output, stateN } = await this.#session.run({ input: heard, state, sr: sampleRate })
      state = stateN as typeof state
      return Number(output?.data[0])
    }
    return frame => {
      const probability = last.then(() => next(frame))
      last = probability.catch(() => {})
      return probability
    }
  }

  /** The probability of speech in each frame of a recording, as far as it gets before `isStopped`. */
  async probabilities(samples: Float32Array, isStopped: () => boolean): Promise<number[]> {
    const probabilityOf = this.stream()
    const probabilities: number[] = []
    for (let start = 0; start < samples.length && !isStopped(); start += FRAME_SAMPLES)
      probabilities.push(await probabilityOf(samples.subarray(start, start + FRAME_SAMPLES)))
    return probabilities
  }
}
