import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Clock, type Logger, systemClock } from 'toolpost'
import type { SentenceGraph } from 'toolpost/models'
import { secondsOf } from '../audio/samples.ts'
import { isUnsure, surest } from './hearings.ts'
import { ModelProcess } from './model-process.ts'
import { type ModelName, whyMissing } from './models.ts'
import type { Value } from './moonshine-messages.ts'
import { RestartGuard } from './restart-guard.ts'
import type { SpeechDetector } from './speech-detector.ts'
import {
  type Listened,
  type ListenOptions,
  type TranscribeOptions,
  type Transcriber,
  TranscriberError,
} from './transcriber.ts'
import { Turns } from './turns.ts'

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
  readonly #guard: RestartGuard
  readonly #turns = new Turns()
  /** The version of the sentence graph that each process has. */
  readonly #followed = new WeakMap<ModelProcess, string>()
  #child: ModelProcess | undefined
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
    this.#guard = new RestartGuard(clock)
  }

  /** The process with the models, if it is running. */
  get processId(): number | undefined {
    return this.#child?.pid
  }

  async ready(): Promise<void> {
    await this.#readyChild()
  }

  async transcribe(samples: Float32Array, options: TranscribeOptions = {}): Promise<string> {
    const { text, withNames = text } = await this.#turns.take(
      () => this.#ask(samples, options),
      options.signal,
    )
    return withNames
  }

  listen(samples: Float32Array, options: ListenOptions): Promise<Listened> {
    return this.#turns.take(() => this.#listen(samples, options), options.signal)
  }

  async #listen(samples: Float32Array, options: ListenOptions): Promise<Listened> {
    const { signal, isClear = () => true } = options
    const first = await this.#ask(samples, options)
    const others: Listened[] = []
    const isEnough = (heard: Listened) => isClear(heard) && !(heard === first && isUnsure(heard))
    let last: Listened | null = first
    while (last && !isEnough(last) && !signal?.aborted) {
      last = await this.#hearAgain(others.length + 1, signal)
      if (last) others.push(last)
    }
    // Names are only listened for once.
    return { ...first, ...(last ?? surest(first, others)) }
  }

  /** Detects speech for a microphone, in the same child process. */
  speechDetector(): SpeechDetector {
    const detector = ++this.#detectors
    return {
      probability: async frame => {
        const child = await this.#readyChild()
        const { answer } = child.ask({ type: 'probability', detector, frame }, ANSWER_LIMIT_MS)
        return Number(await answer)
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
  async #ask(
    samples: Float32Array,
    { signal, names = [], graph }: TranscribeOptions & { graph?: SentenceGraph | undefined },
  ): Promise<Listened> {
    const child = await this.#readyChild()
    if (signal?.aborted) return { text: '', score: 0, sentences: [] }
    if (graph) this.#follow(graph, child)
    const limitMs = ANSWER_LIMIT_MS + ANSWER_LIMIT_MS_PER_SECOND * secondsOf(samples)
    const isBound = graph !== undefined
    const asked = child.ask({ type: 'transcribe', samples, isBound, names }, limitMs)
    const heard = (await stoppable(asked, child, signal)) as Listened
    this.#guard.succeeded()
    return heard
  }

  async #hearAgain(hearing: number, signal: AbortSignal | undefined): Promise<Listened | null> {
    const child = await this.#readyChild()
    const asked = child.ask({ type: 'hear-again', hearing }, ANSWER_LIMIT_MS)
    return (await stoppable(asked, child, signal)) as Listened | null
  }

  /** Sends the graph once per process. */
  #follow(graph: SentenceGraph, child: ModelProcess): void {
    if (this.#followed.get(child) === graph.version) return
    child.tell({ type: 'graph', graph })
    this.#followed.set(child, graph.version)
  }

  async #readyChild(): Promise<ModelProcess> {
    if (this.#isClosed) throw new TranscriberError('The transcriber was closed')
    this.#child ??= this.#start()
    const child = this.#child
    await child.ready
    return child
  }

  #start(): ModelProcess {
    const refusal = this.#guard.refusal()
    if (refusal) throw new TranscriberError(refusal)
    const file = this.#childFile
    if (!existsSync(file)) throw new TranscriberError(`${fileURLToPath(file)} is missing. Run: npm run build`)
    const missing = whyMissing(this.#model)
    if (missing) throw new TranscriberError(missing)
    const startedAt = this.#clock.now()
    const onEnd = (reason: string, wasReady: boolean) => this.#ended(reason, wasReady)
    const child = new ModelProcess({
      file,
      args: [this.#model],
      clock: this.#clock,
      logger: this.#logger,
      onEnd,
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
    this.#guard.failed(reason)
    this.#logger?.warn({ failures: this.#guard.failures }, reason)
    if (wasReady && !this.#guard.refusal()) this.#startAgain()
  }

  /** If it cannot be started, the next request tries again and gets the reason. */
  #startAgain(): void {
    try {
      this.#child = this.#start()
    } catch (error) {
      this.#logger?.warn({ problem: String(error) }, 'Could not restart the speech model')
    }
  }
}

/** The answer; tells the child when nobody is waiting for it any longer. */
async function stoppable(
  { id, answer }: { id: number; answer: Promise<Value> },
  child: ModelProcess,
  signal: AbortSignal | undefined,
): Promise<Value> {
  const stop = () => child.tell({ type: 'stop', id })
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await answer
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
