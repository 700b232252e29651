import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Clock, Logger, Timer } from 'toolpost'
import type { FromChild, Request, ToChild, Value } from './moonshine-messages.ts'
import { TranscriberError } from './transcriber.ts'

export interface ModelProcessOptions {
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
  resolve(value: Value): void
  reject(error: TranscriberError): void
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** Models not loaded by then never will be. */
const LOAD_LIMIT_MS = 60_000
const KEPT_ERROR_LENGTH = 500
/** The only environment variables the child gets: what programs need, and no secrets. */
const INHERITED_VARIABLES = [
  'PATH',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'LD_LIBRARY_PATH',
]

/** The process with the speech models. It keeps the parent alive only while loading or answering. */
export class ModelProcess {
  /** Resolves when the models are loaded; rejects with a TranscriberError. */
  readonly ready: Promise<void>
  readonly gone: Promise<void>
  readonly #options: ModelProcessOptions
  readonly #process: ChildProcess
  readonly #pending = new Map<number, PendingRequest>()
  readonly #loadTimer: Timer
  #settleLoading: { resolve(): void; reject(error: TranscriberError): void } | undefined
  #state: 'loading' | 'ready' | 'ended' = 'loading'
  #lastWords = ''
  #lastId = 0

  constructor(options: ModelProcessOptions) {
    this.#options = options
    this.#process = startProcess(options.file, options.args)
    this.ready = new Promise((resolve, reject) => {
      this.#settleLoading = { resolve, reject }
    })
    // If nobody awaits it, `onEnd` reports the same.
    this.ready.catch(() => {})
    this.#loadTimer = this.#limit(LOAD_LIMIT_MS, 'did not load')
    this.#listen()
    this.gone = this.#whenGone()
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Sends a request, once ready. A process that does not answer in time is killed. */
  ask(request: WithoutId<Request>, limitMs: number): { id: number; answer: Promise<Value> } {
    const id = ++this.#lastId
    const answer = new Promise<Value>((resolve, reject) => {
      if (this.#state === 'ended') return reject(new TranscriberError('The speech model has exited'))
      this.#pending.set(id, { timer: this.#limit(limitMs, 'did not answer'), resolve, reject })
      this.tell({ ...request, id } as Request)
      this.#hold()
    })
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

  #limit(ms: number, failing: string): Timer {
    const kill = () =>
      this.kill(`The speech model ${failing} within ${Math.round(ms / 1_000)} s and was killed`)
    return this.#options.clock.setTimer(kill, ms)
  }

  #listen(): void {
    this.#process.on('message', (message: FromChild) => this.#receive(message))
    const stderr = this.#process.stderr as Socket
    stderr.on('data', data => {
      this.#lastWords = `${this.#lastWords}${data}`.slice(-KEPT_ERROR_LENGTH)
      this.#options.logger?.debug({ stderr: String(data).trim() }, 'The speech model wrote to stderr')
    })
    stderr.unref()
  }

  async #whenGone(): Promise<void> {
    const how = await exitOf(this.#process)
    const lastWords = this.#lastWords.trim().split('\n').at(-1)
    this.#end(`The speech model exited (${how})${lastWords ? `: ${lastWords}` : ''}`)
  }

  #receive(message: FromChild): void {
    if (message.type === 'unusable') this.kill(`The speech model cannot be loaded: ${message.message}`)
    else if (message.type === 'ready') this.#becomeReady()
    else this.#answered(message)
  }

  #becomeReady(): void {
    if (this.#state !== 'loading') return
    this.#state = 'ready'
    this.#loadTimer.cancel()
    this.#settleLoading?.resolve()
    this.#hold()
  }

  #answered(message: Extract<FromChild, { id: number }>): void {
    const request = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    request?.timer.cancel()
    if (message.type === 'answer') request?.resolve(message.value)
    else request?.reject(new TranscriberError(`The speech model failed: ${message.message}`))
    this.#hold()
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return
    const wasReady = this.#state === 'ready'
    this.#state = 'ended'
    this.#loadTimer.cancel()
    this.#rejectAll(reason)
    try {
      this.#options.onEnd(reason, wasReady)
    } catch (error) {
      this.#options.logger?.error({ problem: String(error) }, 'Handling the exit of the speech model failed')
    }
  }

  #rejectAll(reason: string): void {
    this.#settleLoading?.reject(new TranscriberError(reason))
    for (const { timer, reject } of this.#pending.values()) {
      timer.cancel()
      reject(new TranscriberError(reason))
    }
    this.#pending.clear()
  }

  #hold(): void {
    if (this.#state === 'ended') return
    const method = this.#state === 'loading' || this.#pending.size > 0 ? 'ref' : 'unref'
    this.#process[method]()
    this.#process.channel?.[method]()
  }
}

function startProcess(file: URL, args: readonly string[]): ChildProcess {
  return fork(file, args, {
    // Not inherited: a second debugger would find its port taken.
    execArgv: ['--expose-gc'],
    env: Object.fromEntries(INHERITED_VARIABLES.map(key => [key, process.env[key]])),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    child.on('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    // A process that never started has no exit event.
    child.on('error', error => child.pid === undefined && resolve(error.message))
  })
}
