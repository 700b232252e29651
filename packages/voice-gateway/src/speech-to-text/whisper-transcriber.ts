import { access, writeFile } from 'node:fs/promises'
import { secondsOf, writeWav } from '../audio/wav.ts'
import { findProgram } from '../programs/platform.ts'
import { runProgram, withTemporaryWav } from '../programs/run-program.ts'
import { type Transcriber, TranscriberError, Turns } from './transcriber.ts'

export interface WhisperOptions {
  /** whisper.cpp's program. */
  command?: string | undefined
  /** The model file. */
  model: string
  /** More arguments for the program. */
  args?: readonly string[] | undefined
}

/** Large models on slow machines take longer than the recording itself. */
const ANSWER_LIMIT_MS = 60_000
const ANSWER_LIMIT_MS_PER_SECOND = 10_000
/** What whisper.cpp writes besides words: timestamps, and remarks about other sounds. */
const REMARK = /\[[^[\]\n]*\]|\([^()\n]*\)|\*[^*\n]*\*|[♪♫]+/g

/** whisper.cpp's command line: one run per recording, one at a time. */
export class WhisperTranscriber implements Transcriber {
  readonly name = 'whisper.cpp'
  readonly #command: string
  readonly #model: string
  readonly #args: readonly string[]
  readonly #turns = new Turns()
  readonly #closing = new AbortController()

  constructor(options: WhisperOptions) {
    const { command = 'whisper-cli', model, args = [] } = options
    this.#command = command
    this.#model = model
    this.#args = args
  }

  /** The program loads its model on every run; this only checks that both exist. */
  async ready(): Promise<void> {
    await this.#findModel()
    if (!findProgram(this.#command))
      throw new TranscriberError(`${this.#command} is not installed, or not on the PATH`)
  }

  transcribe(samples: Float32Array, options: { signal?: AbortSignal | undefined } = {}): Promise<string> {
    const signals = [this.#closing.signal, options.signal].filter(signal => signal !== undefined)
    const signal = AbortSignal.any(signals)
    return this.#turns.take(() => this.#transcribe(samples, signal), signal)
  }

  /** Ends the program if it is running; resolves when it has exited. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#turns.over()
  }

  async #transcribe(samples: Float32Array, signal: AbortSignal): Promise<string> {
    await this.#findModel()
    return withTemporaryWav(async file => {
      await writeFile(file, writeWav(samples))
      const args = ['-m', this.#model, '-f', file, '-nt', '-np', ...this.#args]
      const deadlineMs = ANSWER_LIMIT_MS + ANSWER_LIMIT_MS_PER_SECOND * secondsOf(samples)
      const output = await runProgram({
        program: this.#command,
        args,
        deadlineMs,
        signal,
        Failure: TranscriberError,
      })
      return output.toString('utf8').replace(REMARK, ' ').replace(/\s+/g, ' ').trim()
    })
  }

  async #findModel(): Promise<void> {
    try {
      await access(this.#model)
    } catch (cause) {
      throw new TranscriberError(`The whisper.cpp model cannot be read: ${this.#model}`, { cause })
    }
  }
}
