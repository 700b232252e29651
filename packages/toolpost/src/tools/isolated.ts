import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiledFile } from '../util/package-root.ts'
import type { Answer } from './isolated-child.ts'

export interface IsolateOptions {
  /** The module's file: a URL, or a path relative to the working directory. */
  module: string | URL
  /** The name of the exported function; it receives the arguments and nothing else. */
  export: string
  /** Its name in error messages; that of the export by default. */
  name?: string
  /** Limit of a child's JavaScript heap; buffers do not count. */
  heapMb?: number
}

/** Who calls, and what ends the call early. */
interface CallSource {
  readonly caller?: string | undefined
  readonly origin?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A function that runs in another process, which is killed when the call is aborted. */
export type IsolatedFunction = (args: unknown, source?: CallSource) => Promise<unknown>

const MAX_CHILDREN = Math.min(Math.max(2, availableParallelism()), 8)
const MAX_CHILDREN_OF_CALLER = Math.floor(MAX_CHILDREN / 2)
/** The one that answered last, and the spare. */
const MAX_IDLE = 2
/** A program that makes one quick call has exited by then, and never pays for a spare. */
const SPARE_AFTER_MS = 20
/** The only environment variables a child gets: what programs need, and no secrets. */
const VARIABLES = ['PATH', 'TZ', 'LANG', 'LC_ALL', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot']

const pools = new Set<ChildPool>()

/**
 * Calls an exported function in a child process with a heap limit: it may spin, exhaust its memory or crash, and only its
 * own call fails. Nothing is started before the first call.
 */
export function isolate(options: IsolateOptions): IsolatedFunction {
  const pool = new ChildPool(options)
  pools.add(pool)
  return (args, source) => pool.call(args, source)
}

/** Ends all idle children now, and those at work with their calls; a later call starts new ones. */
export async function closeIsolated(): Promise<void> {
  await Promise.all([...pools].map(pool => pool.close()))
}

interface Turn {
  readonly caller: string | undefined
  begin(): void
}

/** The children of one function. No caller has more than half of them; those with the fewest are served first. */
class ChildPool {
  readonly #options: IsolateOptions
  #waiting: Turn[] = []
  readonly #running = new Set<Turn>()
  #idle: Child[] = []
  #spareTimer: NodeJS.Timeout | undefined
  /** Children that were started before are not kept. */
  #generation = 0

  constructor(options: IsolateOptions) {
    this.#options = options
  }

  async call(args: unknown, { caller, origin, signal }: CallSource = {}): Promise<unknown> {
    signal?.throwIfAborted()
    const turn = await this.#turn(caller ?? origin, signal)
    this.#idle = this.#idle.filter(each => each.isAlive)
    const child = this.#idle.shift() ?? new Child(this.#options)
    const generation = this.#generation
    const kill = () => void child.kill()
    signal?.addEventListener('abort', kill)
    this.#spareTimer ??= setTimeout(() => this.#addSpare(), SPARE_AFTER_MS).unref()
    try {
      return await child.run(args)
    } finally {
      signal?.removeEventListener('abort', kill)
      this.#running.delete(turn)
      if (child.isAlive) this.#idle.unshift(child)
      this.#serve()
      for (const each of this.#idle.splice(generation === this.#generation ? MAX_IDLE : 0)) void each.kill()
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#spareTimer)
    this.#spareTimer = undefined
    this.#generation++
    await Promise.all(this.#idle.splice(0).map(child => child.kill()))
  }

  #turn(caller: string | undefined, signal: AbortSignal | undefined): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const turn = { caller, begin: () => resolve(turn) }
      const giveUp = () => {
        this.#waiting = this.#waiting.filter(other => other !== turn)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(turn)
      this.#serve()
    })
  }

  #serve(): void {
    const running = ({ caller }: Turn) => [...this.#running].filter(turn => turn.caller === caller).length
    while (this.#running.size < MAX_CHILDREN) {
      const [next] = this.#waiting.toSorted((a, b) => running(a) - running(b))
      if (!next || running(next) >= MAX_CHILDREN_OF_CALLER) return
      this.#waiting = this.#waiting.filter(turn => turn !== next)
      this.#running.add(next)
      next.begin()
    }
  }

  #addSpare(): void {
    this.#spareTimer = undefined
    if (!this.#idle.some(child => child.isAlive)) this.#idle.push(new Child(this.#options))
  }
}

/** One process, which runs one call at a time. It keeps the parent alive only during a call. */
class Child {
  isAlive = true
  readonly #process: ChildProcess
  readonly #gone: Promise<void>
  #settle: ((answer: Answer) => void) | undefined

  constructor({ module, export: exportName, name = exportName, heapMb = 64 }: IsolateOptions) {
    const url = /^(file|data):/.test(String(module)) ? module : pathToFileURL(resolvePath(String(module)))
    const args = [String(process.pid), String(url), exportName, name]
    this.#process = fork(compiledFile('tools/isolated-child.js'), args, {
      execArgv: [`--max-old-space-size=${heapMb}`],
      env: Object.fromEntries(VARIABLES.map(key => [key, process.env[key]])),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#process.on('message', (answer: Answer) => this.#settle?.(answer))
    this.#gone = new Promise(gone => {
      const end = (message: string) => {
        this.isAlive = false
        this.#settle?.({ error: { message: `${name} ${message}` } })
        gone()
      }
      this.#process.on('exit', (code, signal) => end(howItEnded(code, signal, heapMb)))
      this.#process.on('error', error => end(`cannot be started: ${error.message}`))
    })
    this.#hold('unref')
  }

  async run(args: unknown): Promise<unknown> {
    this.#hold('ref')
    const { error, value, isUseless } = await new Promise<Answer>(resolve => {
      this.#settle = resolve
      // Ignore a closed channel: the exit event follows and says more.
      this.#process.send({ args }, () => {})
    })
    this.#settle = undefined
    this.#hold('unref')
    if (isUseless) void this.kill()
    if (error) throw errorFrom(error)
    return value
  }

  kill(): Promise<void> {
    this.isAlive = false
    // Whoever waits for its end must not exit before.
    this.#hold('ref')
    this.#process.kill('SIGKILL')
    return this.#gone
  }

  #hold(method: 'ref' | 'unref'): void {
    this.#process[method]()
    this.#process.channel?.[method]()
  }
}

/** Abort and trap, as exit codes of shells and of Windows: V8 aborts when the heap is full, and traps on a huge object. */
const OUT_OF_MEMORY: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 134, 133, 0xc0000409, 0x80000003]

function howItEnded(code: number | null, signal: string | null, heapMb: number): string {
  if (OUT_OF_MEMORY.includes(signal ?? code)) return `ran out of memory (limit ${heapMb} MB)`
  return `${signal === null ? `exited with code ${code}` : `was killed by ${signal}`} before it answered`
}

function errorFrom({ message, cause, ...fields }: NonNullable<Answer['error']>): Error {
  return Object.assign(new Error(message, cause && { cause: errorFrom(cause) }), fields)
}
