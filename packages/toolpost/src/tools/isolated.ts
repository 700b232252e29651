import { fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { availableParallelism } from 'node:os'
import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiledFile } from '../util/package-root.ts'
import { INHERITED_VARIABLES } from '../util/platform.ts'
import type { Answer } from './isolated-child.ts'
import type { InvokeOptions } from './tool.ts'

interface IsolateOptions {
  /** The module's file: a URL, or a path relative to the working directory. */
  module: string | URL
  /** The name of the exported function; it receives the arguments and nothing else. */
  export: string
  /** Its name in error messages. */
  name: string
}

/** A function that runs in another process, which is killed when the call is aborted. */
type IsolatedFunction = (args: unknown, options: InvokeOptions) => Promise<unknown>

const MAX_CHILDREN = Math.min(Math.max(2, availableParallelism()), 8)
const MAX_CHILDREN_OF_CALLER = Math.floor(MAX_CHILDREN / 2)
/** The one that answered last, and the spare. */
const MAX_IDLE = 2
/** Of JavaScript; buffers do not count. */
const HEAP_MB = 64
/** A program that makes one quick call has exited by then, and never pays for a spare. */
const SPARE_AFTER_MS = 20
/** Abort and trap, as exit codes of shells and of Windows: V8 aborts when the heap is full, and traps on a huge object. */
const OUT_OF_MEMORY: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 134, 133, 0xc0000409, 0x80000003]

const closers: (() => Promise<unknown>)[] = []

/** Ends all idle children now, and those at work with their calls; a later call starts new ones. */
export async function closeIsolated(): Promise<void> {
  await Promise.all(closers.map(close => close()))
}

/**
 * Calls an exported function in a child process with a heap limit: it may spin, exhaust its memory or crash, and only its
 * own call fails. No caller has more than half of the children. Nothing is started before the first call.
 */
export function isolate(options: IsolateOptions): IsolatedFunction {
  /** The callers of the calls that run. */
  const running: (string | undefined)[] = []
  const ends = new EventEmitter().setMaxListeners(0)
  /** Replaced when it is closed: children that were started before are not kept. */
  let idle: Child[] = []
  let spareTimer: NodeJS.Timeout | undefined
  const isFull = (caller: string | undefined) =>
    running.length >= MAX_CHILDREN ||
    running.filter(other => other === caller).length >= MAX_CHILDREN_OF_CALLER
  const addSpare = () => {
    spareTimer = undefined
    if (!idle.some(child => child.isAlive)) idle.push(startChild(options))
  }
  closers.push(() => {
    clearTimeout(spareTimer)
    spareTimer = undefined
    const closed = idle
    idle = []
    return Promise.all(closed.map(child => child.kill()))
  })

  return async (args, { caller: named, origin, signal }) => {
    const caller = named ?? origin
    signal.throwIfAborted()
    while (isFull(caller)) await once(ends, 'end', { signal })
    running.push(caller)
    const pool = idle
    let child = pool.shift()
    while (child && !child.isAlive) child = pool.shift()
    const own = child ?? startChild(options)
    const kill = () => void own.kill()
    signal.addEventListener('abort', kill)
    spareTimer ??= setTimeout(addSpare, SPARE_AFTER_MS).unref()
    try {
      return await own.run(args)
    } finally {
      signal.removeEventListener('abort', kill)
      running.splice(running.indexOf(caller), 1)
      if (pool === idle && own.isAlive) idle.unshift(own)
      else kill()
      for (const extra of idle.splice(MAX_IDLE)) void extra.kill()
      ends.emit('end')
    }
  }
}

type Child = ReturnType<typeof startChild>

/** One process, which runs one call at a time. It keeps the parent alive only during a call. */
function startChild({ module, export: exportName, name }: IsolateOptions) {
  const url = /^(file|data):/.test(String(module)) ? module : pathToFileURL(resolvePath(String(module)))
  const args = [String(process.pid), String(url), exportName, name]
  const child = fork(compiledFile('tools/isolated-child.js'), args, {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    env: Object.fromEntries(INHERITED_VARIABLES.map(key => [key, process.env[key]])),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const hold = (method: 'ref' | 'unref') => {
    child[method]()
    child.channel?.[method]()
  }
  let settle: ((answer: Answer) => void) | undefined
  const gone = new Promise<void>(resolve => {
    const end = (how: string) => {
      self.isAlive = false
      settle?.({ error: { message: `${name} ${how}` } })
      resolve()
    }
    child.on('message', (answer: Answer) => settle?.(answer))
    child.on('error', error => end(`cannot be started: ${error.message}`))
    child.on('exit', (code, signal) => {
      if (OUT_OF_MEMORY.includes(signal ?? code)) end(`ran out of memory (limit ${HEAP_MB} MB)`)
      else end(`${signal ? `was killed by ${signal}` : `exited with code ${code}`} before it answered`)
    })
  })
  const self = {
    isAlive: true,
    async run(args: unknown): Promise<unknown> {
      hold('ref')
      const { error, value } = await new Promise<Answer>(resolve => {
        settle = resolve
        // Ignore a closed channel: the exit event follows and says more.
        child.send({ args }, () => {})
      })
      hold('unref')
      if (error) throw Object.assign(new Error(error.message), error)
      return value
    },
    kill(): Promise<void> {
      self.isAlive = false
      // Whoever waits for its end must not exit before.
      hold('ref')
      child.kill('SIGKILL')
      return gone
    },
  }
  hold('unref')
  return self
}
