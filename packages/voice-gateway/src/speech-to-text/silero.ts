import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { FRAME_SAMPLES } from '../audio/utterance-cutter.ts'
import { openModel } from './model-session.ts'

const sampleRate = new Tensor('int64', BigInt64Array.of(16_000n), [])
/** The model sees the end of the frame before, so that a sound across the border is whole. */
const CONTEXT_SAMPLES = 64

/** One stream of frames: what the model remembers of it. */
export class SileroStream {
  readonly #session: InferenceSession
  #state: Tensor = new Tensor('float32', new Float32Array(2 * 128), [2, 1, 128])
  #context = new Float32Array(CONTEXT_SAMPLES)
  #last: Promise<unknown> = Promise.resolve()

  constructor(session: InferenceSession) {
    this.#session = session
  }

  /** How likely it is that somebody speaks in the next frame; a shorter one is filled up with silence. */
  probability(frame: Float32Array): Promise<number> {
    const probability = this.#last.then(() => this.#next(frame))
    this.#last = probability.catch(() => {})
    return probability
  }

  async #next(frame: Float32Array): Promise<number> {
    const input = new Float32Array(CONTEXT_SAMPLES + FRAME_SAMPLES)
    input.set(this.#context)
    input.set(frame.subarray(0, FRAME_SAMPLES), CONTEXT_SAMPLES)
    this.#context = input.slice(-CONTEXT_SAMPLES)
    const { output, stateN } = await this.#session.run({
      input: new Tensor('float32', input, [1, input.length]),
      state: this.#state,
      sr: sampleRate,
    })
    this.#state = stateN as Tensor
    return Number(output?.data[0])
  }
}

/** Finds speech with Silero's model. */
export class Silero {
  readonly #session: InferenceSession

  private constructor(session: InferenceSession) {
    this.#session = session
  }

  static async load(): Promise<Silero> {
    const place = { package: '@ricky0123/vad-web', file: './silero_vad_v6.onnx' }
    // So small that a second thread costs more than it brings.
    return new Silero(await openModel(place, { intraOpNumThreads: 1 }))
  }

  stream(): SileroStream {
    return new SileroStream(this.#session)
  }

  /** The probability of speech in each frame of a recording, as far as it gets before `isStopped`. */
  async probabilities(samples: Float32Array, isStopped: () => boolean): Promise<number[]> {
    const stream = this.stream()
    const probabilities: number[] = []
    for (let start = 0; start < samples.length && !isStopped(); start += FRAME_SAMPLES)
      probabilities.push(await stream.probability(samples.subarray(start, start + FRAME_SAMPLES)))
    return probabilities
  }
}
