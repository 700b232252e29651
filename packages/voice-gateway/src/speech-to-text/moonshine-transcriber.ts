import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Clock, type Logger, systemClock } from 'toolpost'
import { secondsOf } from '../audio/wav.ts'
import { ModelProcess } from './model-process.ts'
import { type ModelName, whyMissing } from './moonshine-model.ts'
import type { SpeechDetector } from './speech-detector.ts'
import {
  type Listened,
  type ListenOptions,
  type TranscribeOptions,
  type Transcriber,
  TranscriberError,
  Turns,
} from './transcriber.ts'

export interface MoonshineOptions {
  /** `base` is more accurate, takes half as long again, and must be installed separately. */
  model?: ModelName | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
  /** The file to run in the child process, for tests. */
  childFile?: URL | undefined
}

/** An answer takes a tenth of this on two slow cores; a process that needs more is hanging. */
const ANSWER_LIMIT_MS = 15_000
const ANSWER_LIMIT_MS_PER_SECOND = 1_000
/** One failure is forgiven; further ones delay the next start. */
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000

/** Reached from both the sources and `dist`: only compiled files run on every Node. */
const COMPILED_CHILD = new URL('../../dist/speech-to-text/moonshine-child.js', import.meta.url)

/**
 * One of Moonshine's English models, with Silero for voice activity detection, in a child process that is started on
 * first use and restarted whenever it exits. Transcribes one recording at a time.
 */
export class MoonshineTranscriber implements Transcriber {
  readonly name: string
  readonly #model: ModelName
  readonly #clock: Clock
  readonly #childFile: URL
  readonly #logger: Logger | undefined
  readonly #turns = new Turns()
  #child: ModelProcess | undefined
  /** The version of the sentence graph that the child has. */
  #followed: string | undefined
  #failures = 0
  #notBeforeMs = 0
  #lastFailure = ''
  #isClosed = false
  #gone: Promise<unknown> = Promise.resolve()
  #detectors = 0

  constructor(options: MoonshineOptions = {}) {
    const { model = 'tiny', logger, clock = systemClock, childFile = COMPILED_CHILD } = options
    this.name = `Moonshine ${model}`
    this.#model = model
    this.#clock = clock
    this.#childFile = childFile
    this.#logger = logger
  }

  /** The process with the models, if it is running. */
  get processId(): number | undefined {
    return this.#child?.pid
  }

  async ready(): Promise<void> {
    await this.#readyChild()
  }

  async transcribe(samples: Float32Array, options: TranscribeOptions = {}): Promise<string> {
    const { text } = await this.#turns.take(() => this.#ask(samples, options), options.signal)
    return text
  }

  listen(samples: Float32Array, options: ListenOptions): Promise<Listened> {
    return this.#turns.take(() => this.#ask(samples, options), options.signal)
  }

  /** Detects speech for a microphone, in the same child process. */
  speechDetector(): SpeechDetector {
    const detector = ++this.#detectors
    return {
      probability: async frame => {
        const child = await this.#readyChild()
        return Number(await child.ask({ type: 'probability', detector, frame }, ANSWER_LIMIT_MS).answer)
      },
      reset: () => this.#child?.tell({ type: 'reset', detector }),
    }
  }

  /** Ends the process, even while it is loading or working. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#child?.kill('The transcriber was closed')
    await this.#gone
  }

  /** Resolves when the process has answered, even if the request was aborted: only then is it free for the next. */
  async #ask(samples: Float32Array, { signal, graph }: Partial<ListenOptions>): Promise<Listened> {
    const child = await this.#readyChild()
    if (signal?.aborted) return { text: '', score: 0, sentences: [] }
    if (graph && this.#followed !== graph.version) child.tell({ type: 'graph', graph })
    if (graph) this.#followed = graph.version
    const limitMs = ANSWER_LIMIT_MS + ANSWER_LIMIT_MS_PER_SECOND * secondsOf(samples)
    const { id, answer } = child.ask({ type: 'transcribe', samples, isBound: graph !== undefined }, limitMs)
    const stop = () => child.tell({ type: 'stop', id })
    signal?.addEventListener('abort', stop, { once: true })
    const heard = (await answer.finally(() => signal?.removeEventListener('abort', stop))) as Listened
    this.#failures = 0
    return heard
  }

  async #readyChild(): Promise<ModelProcess> {
    if (this.#isClosed) throw new TranscriberError('The transcriber was closed')
    this.#child ??= this.#start()
    const child = this.#child
    await child.ready
    return child
  }

  #start(): ModelProcess {
    const file = this.#childFile
    const startedAt = this.#clock.now()
    const waitMs = this.#notBeforeMs - startedAt
    if (this.#failures > 0 && waitMs > 0)
      throw new TranscriberError(
        `The speech model failed ${this.#failures} times in a row; retrying in ${Math.ceil(waitMs / 1_000)} s. ${this.#lastFailure}`,
      )
    const missing = whyMissing(this.#model)
    if (missing) throw new TranscriberError(missing)
    if (!existsSync(file)) throw new TranscriberError(`${fileURLToPath(file)} is missing. Run: npm run build`)
    this.#followed = undefined
    const child = new ModelProcess({
      file,
      args: [this.#model],
      clock: this.#clock,
      logger: this.#logger,
      onEnd: (reason, wasReady) => this.#ended(reason, wasReady),
    })
    this.#gone = Promise.all([this.#gone, child.gone])
    const logLoaded = () =>
      this.#logger?.info({ load_ms: Math.round(this.#clock.now() - startedAt) }, `${this.name} is loaded`)
    child.ready.then(logLoaded).catch(() => {})
    return child
  }

  /** A process that had loaded is replaced immediately, so that the next request need not wait. */
  #ended(reason: string, wasReady: boolean): void {
    this.#child = undefined
    if (this.#isClosed) return
    this.#failures++
    this.#lastFailure = reason
    const delayMs = this.#failures < 2 ? 0 : FIRST_DELAY_MS * 2 ** (this.#failures - 2)
    this.#notBeforeMs = this.#clock.now() + Math.min(delayMs, LONGEST_DELAY_MS)
    this.#logger?.warn({ failures: this.#failures }, reason)
    // If it cannot be started, the next request tries again and gets the reason.
    const onProblem = (error: unknown) =>
      this.#logger?.warn({ problem: String(error) }, 'Could not restart the speech model')
    if (wasReady) this.#readyChild().catch(onProblem)
  }
}
