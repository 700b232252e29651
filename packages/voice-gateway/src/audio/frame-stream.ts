import { readPcm } from './read-pcm.ts'
import { FRAME_SAMPLES } from './utterance-cutter.ts'

const FRAME_BYTES = FRAME_SAMPLES * 2

/** Cuts a stream of raw sound, arriving in chunks of any size, into frames. */
export class FrameStream {
  #rest: Uint8Array = new Uint8Array(0)

  push(bytes: Uint8Array): Float32Array[] {
    const all = Buffer.concat([this.#rest, bytes])
    const whole = all.length - (all.length % FRAME_BYTES)
    this.#rest = all.subarray(whole)
    return Array.from({ length: whole / FRAME_BYTES }, (_, index) =>
      readPcm(all.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES)),
    )
  }

  /** Drops an incomplete frame. */
  reset(): void {
    this.#rest = new Uint8Array(0)
  }
}
