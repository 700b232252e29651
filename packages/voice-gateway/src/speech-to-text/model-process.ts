import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Clock, Logger, Timer } from 'toolpost'
import type { SentenceGraph } from 'toolpost/models'
import { type Listened, TranscriberError } from './transcriber.ts'

/** To the child. Requests are answered in order; `graph`, `stop` and `reset` are not answered. */
export type ToChild =
  | { type: 'transcribe'; id: number; samples: Float32Array; isBound: boolean }
  | { type: 'probability'; id: number; detector: number; frame: Float32Array }
  /** The sentences to listen for from now on. */
  | { type: 'graph'; graph: SentenceGraph }
  | { type: 'stop'; id: number }
  | { type: 'reset'; detector: number }

export type Request = Extract<ToChild, { type: 'transcribe' | 'probability' }>

/** From the child: `ready` or `unusable` first, then one answer per request. */
export type FromChild =
  | { type: 'ready' }
  | { type: 'unusable'; message: string }
  | { type: 'answer'; id: number; value: number | Listened }
  | { type: 'failed'; id: number; message: string }

interface ModelProcessOptions {
  file: URL
  /** Command-line arguments of the child. */
  args: readonly string[]
  clock: Clock
  logger: Logger | undefined
  /** Called once, before pending requests settle, when the process has ended, with the reason. */
  onEnd(reason: string, wasReady: boolean): void
}

interface PendingRequest {
  timer: Timer
  resolve(value?: number | Listened): void
  reject(error: TranscriberError): void
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** The pending request for `ready`. */
const LOADING = 0
/** Models not loaded by then never will be. */
const LOAD_LIMIT_MS = 60_000
const KEPT_ERROR_LENGTH = 500
/** The only environment variables the child gets: what programs need, and no secrets. */
const INHERITED = ['PATH', 'LANG', 'LC_ALL', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LD_LIBRARY_PATH']

/** The process with the speech models. It keeps the parent alive only while loading or answering. */
export class ModelProcess {
  /** Resolves when the models are loaded; rejects with a TranscriberError. */
  readonly ready: Promise<unknown>
  readonly gone: Promise<void>
  readonly #options: ModelProcessOptions
  readonly #process: ChildProcess
  readonly #pending = new Map<number, PendingRequest>()
  #state: 'loading' | 'ready' | 'ended' = 'loading'
  #lastWords = ''
  #lastId = LOADING

  constructor(options: ModelProcessOptions) {
    this.#options = options
    this.#process = fork(options.file, options.args, {
      // Not inherited: a second debugger would find its port taken.
      execArgv: ['--expose-gc'],
      env: Object.fromEntries(INHERITED.map(key => [key, process.env[key]])),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.ready = this.#await(LOADING, LOAD_LIMIT_MS, 'did not load')
    // If nobody awaits it, `onEnd` reports the same.
    this.ready.catch(() => {})
    this.#process.on('message', (message: FromChild) => this.#receive(message))
    const stderr = this.#process.stderr as Socket
    stderr.on('data', data => {
      this.#lastWords = `${this.#lastWords}${data}`.slice(-KEPT_ERROR_LENGTH)
      options.logger?.debug({ stderr: String(data).trim() }, 'The speech model wrote to stderr')
    })
    stderr.unref()
    this.gone = exitOf(this.#process).then(how => {
      const lastWords = this.#lastWords.trim().split('\n').at(-1)
      this.#end(`The speech model exited (${how})${lastWords ? `: ${lastWords}` : ''}`)
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Sends a request, once ready. A process that does not answer in time is killed. */
  ask(request: WithoutId<Request>, limitMs: number): { id: number; answer: Promise<number | Listened> } {
    const id = ++this.#lastId
    const answer = this.#await(id, limitMs, 'did not answer') as Promise<number | Listened>
    this.tell({ ...request, id } as Request)
    return { id, answer }
  }

  /** Sends a message that gets no answer. */
  tell(message: ToChild): void {
    // Ignore a closed channel: the process's exit follows and says more.
    if (this.#process.connected) this.#process.send(message, () => {})
  }

  /** Kills the process immediately; pending requests fail with the reason. */
  kill(reason: string): void {
    this.#process.ref()
    this.#process.kill('SIGKILL')
    this.#end(reason)
  }

  #await(id: number, limitMs: number, failing: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#state === 'ended') return reject(new TranscriberError('The speech model has exited'))
      const seconds = Math.round(limitMs / 1_000)
      const kill = () => this.kill(`The speech model ${failing} within ${seconds} s and was killed`)
      this.#pending.set(id, { timer: this.#options.clock.setTimer(kill, limitMs), resolve, reject })
      this.#hold()
    })
  }

  #receive(message: FromChild): void {
    if (message.type === 'unusable') return this.kill(`The speech model cannot be loaded: ${message.message}`)
    const id = message.type === 'ready' ? LOADING : message.id
    const request = this.#pending.get(id)
    this.#pending.delete(id)
    request?.timer.cancel()
    if (message.type === 'ready' && this.#state === 'loading') this.#state = 'ready'
    if (message.type === 'failed')
      request?.reject(new TranscriberError(`The speech model failed: ${message.message}`))
    else request?.resolve(message.type === 'answer' ? message.value : undefined)
    this.#hold()
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return
    const wasReady = this.#state === 'ready'
    this.#state = 'ended'
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { timer } of pending) timer.cancel()
    this.#options.onEnd(reason, wasReady)
    for (const { reject } of pending) reject(new TranscriberError(reason))
  }

  #hold(): void {
    if (this.#state === 'ended') return
    const method = this.#pending.size > 0 ? 'ref' : 'unref'
    this.#process[method]()
    this.#process.channel?.[method]()
  }
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    child.on('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    // A process that never started has no exit event.
    child.on('error', error => child.pid === undefined && resolve(error.message))
  })
}
