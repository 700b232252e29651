import { totalmem } from 'node:os'
import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ChildPool } from './child-pool.ts'
import type { PooledCall } from './waiting-calls.ts'

export interface IsolateOptions {
  /** The module's file: a URL, or a path relative to the working directory. */
  module: string | URL
  /** The name of the exported function; it receives the arguments and nothing else. */
  export: string
  /** Its name in error messages; that of the export by default. */
  name?: string
  /** Limit of a child's JavaScript heap; buffers do not count. */
  heapMb?: number
  /**
   * How many calls of one caller run at the same time, and twice as many for all callers; more wait. One extra child may
   * stand by. Four if left out, or fewer if they could fill a quarter of the memory.
   */
  maxChildren?: number
  /** How long an idle child is kept, except for the standby. */
  idleMs?: number
}

/** Who calls, and what ends the call early: `onAbort` is preferred, because a signal costs more. */
interface CallSource {
  readonly caller?: string | undefined
  readonly signal: AbortSignal
  onAbort?(listener: () => void): void
}

/** A function that runs in another process. The process is killed when the call is aborted. */
export interface IsolatedFunction {
  (args: unknown, options?: CallSource): Promise<unknown>
  /** Kills all children and the calls they are running; resolves when the processes are gone. */
  close(): Promise<void>
  /** The current processes. */
  children(): { pid: number | undefined; state: 'loading' | 'idle' | 'busy' | 'ended' }[]
}

/**
 * Makes a handler that calls an exported function in a child process with a heap limit: it may spin, exhaust its memory
 * or crash, and only its own call fails. Nothing is loaded or started before the first call.
 */
export function isolate(options: IsolateOptions): IsolatedFunction {
  const { export: exportName, name = exportName, heapMb = 64, idleMs = 60_000 } = options
  const { maxChildren = affordableChildren(heapMb) } = options
  const spec = { name, moduleUrl: moduleUrl(options.module), exportName, heapMb }
  let pool: ChildPool | undefined
  const call: IsolatedFunction = async (args, source) => {
    const { ChildPool } = await import('./child-pool.ts')
    pool ??= new ChildPool(spec, { maxChildren, idleMs })
    return run(pool, args, source)
  }
  call.close = async () => pool?.close()
  call.children = () => (pool?.children ?? []).map(({ pid, state }) => ({ pid, state }))
  return call
}

function run(pool: ChildPool, args: unknown, options: CallSource | undefined): Promise<unknown> {
  let abort = () => {}
  const outcome = new Promise((resolve, reject) => {
    const call: PooledCall = { args, caller: options?.caller, resolve, reject }
    abort = () => pool.abort(call)
    if (!options?.onAbort && options?.signal.aborted) abort()
    else pool.submit(call)
  })
  if (options?.onAbort) options.onAbort(abort)
  else if (options) listen(options.signal, outcome, abort)
  return outcome
}

/** Aborts with the signal, and stops listening once the call is answered: the signal may outlive many calls. */
function listen(signal: AbortSignal, outcome: Promise<unknown>, abort: () => void): void {
  const letGo = () => signal.removeEventListener('abort', abort)
  signal.addEventListener('abort', abort, { once: true })
  outcome.then(letGo, letGo)
}

/** A child takes about twice its heap. */
function affordableChildren(heapMb: number): number {
  const affordable = Math.floor(totalmem() / 2 ** 20 / 4 / (2 * heapMb))
  return Math.max(1, Math.min(4, Math.floor(affordable / 2)))
}

function moduleUrl(module: string | URL): string {
  if (module instanceof URL) return module.href
  return /^(file|data):/.test(module) ? module : pathToFileURL(resolvePath(module)).href
}
