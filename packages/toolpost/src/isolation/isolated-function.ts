import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ChildPool, PooledCall } from './child-pool.ts'

export interface IsolateOptions {
  /** The module's file: a URL, its text, or a path (a relative one counts from the working directory). */
  module: string | URL
  /** The name of the exported function; it gets the arguments and nothing else. */
  export: string
  /** How errors call it; the name of the export by default. */
  name?: string
  /** Limit of the JavaScript heap of a child; buffers are not counted. */
  heapMb?: number
  /** How many calls are at work at the same time; more wait. One more child may stand by. */
  maxChildren?: number
  /** How long an idle child beyond the one that stands by is kept. */
  idleMs?: number
}

/** What ends a call early: `onAbort` is preferred, because a signal costs more. */
interface AbortSource {
  readonly signal: AbortSignal
  onAbort?(listener: () => void): void
}

/** A function that runs in another process. The process is killed when the call is aborted. */
export interface IsolatedFunction {
  (args: unknown, options?: AbortSource): Promise<unknown>
  /** Ends all children, and calls under way with them; resolves when the processes are gone. */
  close(): Promise<void>
  /** The processes there are now. */
  children(): { pid: number | undefined; state: 'loading' | 'idle' | 'busy' | 'ended' }[]
}

/**
 * Makes a handler that calls an exported function in a child process with a heap limit: it may spin, exhaust
 * its memory or crash, and only its own call fails. Nothing is loaded or started before the first call.
 */
export function isolate(options: IsolateOptions): IsolatedFunction {
  const { export: exportName, name = exportName, heapMb = 64, maxChildren = 4, idleMs = 60_000 } = options
  const spec = { name, moduleUrl: moduleUrl(options.module), exportName, heapMb }
  let pool: ChildPool | undefined
  const call: IsolatedFunction = async (args, abortSource) => {
    const { ChildPool } = await import('./child-pool.ts')
    pool ??= new ChildPool(spec, { maxChildren, idleMs })
    return run(pool, args, abortSource)
  }
  call.close = async () => pool?.close()
  call.children = () => (pool?.children ?? []).map(({ pid, state }) => ({ pid, state }))
  return call
}

function run(pool: ChildPool, args: unknown, options: AbortSource | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call: PooledCall = { args, resolve, reject }
    const abort = () => pool.abort(call)
    if (!options?.onAbort && options?.signal.aborted) return abort()
    pool.submit(call)
    if (options?.onAbort) options.onAbort(abort)
    else if (options) listen(options.signal, call, abort)
  })
}

/** Aborts the call with the signal, which is let go when the call is answered: it may outlive many calls. */
function listen(signal: AbortSignal, call: PooledCall, abort: () => void): void {
  const { resolve, reject } = call
  const letGo = () => signal.removeEventListener('abort', abort)
  signal.addEventListener('abort', abort, { once: true })
  call.resolve = value => {
    letGo()
    resolve(value)
  }
  call.reject = error => {
    letGo()
    reject(error)
  }
}

function moduleUrl(module: string | URL): string {
  if (module instanceof URL) return module.href
  return /^(file|data):/.test(module) ? module : pathToFileURL(resolvePath(module)).href
}
