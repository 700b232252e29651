import { type ChildProcess, fork } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'
import { compiledFile } from '../runtime/package-root.ts'
import { deathError } from './child-death.ts'
import type { CallMessage, ChildMessage } from './messages.ts'
import { fromWire } from './wire-error.ts'

/** What a child runs, and the name for it in messages. */
export interface ChildSpec {
  name: string
  moduleUrl: string
  exportName: string
  heapMb: number
}

/** What a child reports. Nothing is reported after its end or after `kill()`. */
export interface ChildEvents {
  ready(child: IsolatedChild): void
  returned(child: IsolatedChild, value: unknown): void
  threw(child: IsolatedChild, error: Error): void
  /** The function is unavailable: the module does not load, or no process can be started. */
  unusable(child: IsolatedChild, error: Error): void
  /** The process ended on its own after it was ready. */
  died(child: IsolatedChild, error: Error): void
}

type ChildState = 'loading' | 'idle' | 'busy' | 'ended'

/** A module that has not loaded by then never will. */
const loadLimitMs = 30_000

/** Calls that take longer yield the CPU to short ones. */
const SLOW_MS = 50
/** Priority of this process; larger means lower, 19 is the lowest. */
const ordinaryPriority = getPriority()
/** Under contention, a third of the CPU share of others. */
const LOW_PRIORITY = 5

/** The only environment variables a child gets: what programs need, and no secrets. */
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
    this.whenStill(loadLimitMs, () => this.#end(new Error(`it did not load within ${loadLimitMs} ms`)))
  }

  get state(): ChildState {
    return this.#state
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Starts a call in an idle child. Throws, and leaves it idle, if the arguments cannot be sent. */
  call(args: unknown): void {
    const message: CallMessage = { args }
    // Ignore a closed channel: the exit event follows and says more.
    this.#process.send(message, () => {})
    this.#enter('busy')
    this.whenStill(SLOW_MS, () => this.#stepBack())
  }

  /** Whether a long call has yielded the CPU to short ones, to children that are starting, and to the parent. */
  get isLowered(): boolean {
    return this.#isLowered
  }

  #stepBack(): void {
    this.#isLowered = this.#prioritize(Math.min(ordinaryPriority + LOW_PRIORITY, 19))
  }

  /** Raising the priority again may not be permitted. */
  #comeForward(): void {
    if (this.#isLowered) this.#isLowered = !this.#prioritize(ordinaryPriority)
  }

  #prioritize(priority: number): boolean {
    try {
      if (this.pid !== undefined) setPriority(this.pid, priority)
      return true
    } catch {
      // The process has just ended, or it is not permitted.
      return false
    }
  }

  /** Runs `action` if the child stays in its current state for `ms`. */
  whenStill(ms: number, action: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(action, ms).unref()
  }

  /** Kills the process, whatever it is doing. The parent stays alive until it is gone. */
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
      // A process that never started emits no exit.
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
    if (!wasLoading) return this.#events.died(this, cause)
    const error = new Error(`${this.#spec.name} cannot be started: ${cause.message}`, { cause })
    this.#events.unusable(this, error)
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
