import { type ChildProcess, fork } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'
import { compiledFile } from '../runtime/package-root.ts'
import { deathError } from './child-death.ts'
import type { CallMessage, ChildMessage } from './messages.ts'
import { fromWire } from './wire-error.ts'

/** What a child runs, and how messages call it. */
export interface ChildSpec {
  name: string
  moduleUrl: string
  exportName: string
  heapMb: number
}

/** What a child reports. Nothing follows after an end, and nothing at all after `kill()`. */
export interface ChildEvents {
  ready(child: IsolatedChild): void
  returned(child: IsolatedChild, value: unknown): void
  threw(child: IsolatedChild, error: Error): void
  /** The function is unavailable: the module does not load, or no process can be started. */
  unusable(child: IsolatedChild, error: Error): void
  /** The process ended by itself after it was ready. */
  died(child: IsolatedChild, error: Error): void
}

type ChildState = 'loading' | 'idle' | 'busy' | 'ended'

/** A module that does not load in this time never will. */
const loadLimitMs = 30_000

/** A call that takes longer is not one that somebody waits for. */
const SLOW_MS = 50
/** That of this process; larger is lower, and 19 the lowest. */
const ordinaryPriority = getPriority()
/** A third of what others get, if there is not enough for all. */
const LOW_PRIORITY = 5

/** All that a child gets of the environment: what programs need, and no secrets. */
const inheritedVariables = ['PATH', 'TZ', 'LANG', 'LC_ALL', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot']

/** One forked process that runs one function, one call at a time. */
export class IsolatedChild {
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>
  readonly #spec: ChildSpec
  readonly #events: ChildEvents
  readonly #process: ChildProcess
  #state: ChildState = 'loading'
  #timer: NodeJS.Timeout | undefined
  #isLowered = false

  constructor(spec: ChildSpec, events: ChildEvents) {
    this.#spec = spec
    this.#events = events
    this.#process = startProcess(spec)
    this.gone = new Promise(resolve => this.#listen(resolve))
    this.whenStill(loadLimitMs, () => this.#end(new Error(`it did not load in ${loadLimitMs} ms`)))
  }

  get state(): ChildState {
    return this.#state
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Starts a call of an idle child. Throws, and leaves it idle, when the arguments cannot be sent. */
  call(args: unknown): void {
    const message: CallMessage = { args }
    // A closed channel is left to the end of the process, which follows and says more.
    this.#process.send(message, () => {})
    this.#enter('busy')
    this.whenStill(SLOW_MS, () => this.#stepBack())
  }

  /** Whether a long call has left the processors to the short ones, to children that start, and to the parent. */
  get isLowered(): boolean {
    return this.#isLowered
  }

  #stepBack(): void {
    this.#isLowered = this.#prioritize(Math.min(ordinaryPriority + LOW_PRIORITY, 19))
  }

  /** Not everybody may raise a priority again. */
  #comeForward(): void {
    if (this.#isLowered) this.#isLowered = !this.#prioritize(ordinaryPriority)
  }

  #prioritize(priority: number): boolean {
    try {
      if (this.pid !== undefined) setPriority(this.pid, priority)
      return true
    } catch {
      // It has just ended, or it is not allowed.
      return false
    }
  }

  /** Runs `action` when the child has been in its present state for so long. */
  whenStill(ms: number, action: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(action, ms).unref()
  }

  /** Ends the process at once, whatever it is doing. The parent waits the moment until it is gone. */
  kill(): void {
    this.#enter('ended')
    this.hold(true)
    this.#process.kill('SIGKILL')
  }

  /** Whether this child keeps the parent process alive. */
  hold(held: boolean): void {
    const method = held ? 'ref' : 'unref'
    this.#process[method]()
    this.#process.channel?.[method]()
  }

  #enter(state: ChildState): void {
    clearTimeout(this.#timer)
    this.#state = state
  }

  #listen(gone: () => void): void {
    const { name, heapMb } = this.#spec
    this.#process.on('message', (message: ChildMessage) => this.#receive(message))
    this.#process.on('exit', (code, signal) => {
      this.#end(deathError(name, heapMb, { code, signal }))
      gone()
    })
    this.#process.on('error', error => {
      this.#end(error)
      // A process that never started has no exit.
      if (this.pid === undefined) gone()
    })
  }

  #receive(message: ChildMessage): void {
    if (this.#state === 'ended') return
    if (message.type !== 'unusable') this.#enter('idle')
    this.#comeForward()
    if (message.type === 'ready') this.#events.ready(this)
    else if (message.type === 'result') this.#events.returned(this, message.value)
    else if (message.type === 'error') this.#events.threw(this, fromWire(message.error))
    else this.#end(fromWire(message.error))
  }

  #end(cause: Error): void {
    if (this.#state === 'ended') return
    const wasLoading = this.#state === 'loading'
    this.kill()
    if (wasLoading) this.#events.unusable(this, this.#startError(cause))
    else this.#events.died(this, cause)
  }

  #startError(cause: Error): Error {
    return new Error(`${this.#spec.name} cannot be started: ${cause.message}`, { cause })
  }
}

function startProcess({ moduleUrl, exportName, heapMb }: ChildSpec): ChildProcess {
  return fork(compiledFile('isolation/child.js'), [String(process.pid), moduleUrl, exportName], {
    execArgv: [`--max-old-space-size=${heapMb}`],
    env: Object.fromEntries(inheritedVariables.map(key => [key, process.env[key]])),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}
