import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiledFile } from '../util/package-root.ts'
import type { Answer } from './isolated-child.ts'

interface IsolateOptions {
  /** The module's file: a URL, or a path relative to the working directory. */
  module: string | URL
  /** The name of the exported function; it receives the arguments and nothing else. */
  export: string
  /** Its name in error messages. */
  name: string
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
/** Of JavaScript; buffers do not count. */
const HEAP_MB = 64
/** A program that makes one quick call has exited by then, and never pays for a spare. */
const SPARE_AFTER_MS = 20
/** The only environment variables a child gets: what programs need, and no secrets. */
const VARIABLES = ['PATH', 'TZ', 'LANG', 'LC_ALL', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot']
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
  const waiting = new Set<{ caller: string | undefined; begin: () => void }>()
  let idle: Child[] = []
  let spareTimer: NodeJS.Timeout | undefined
  /** Children that were started before it was closed are not kept. */
  let generation = 0

  function serve(): void {
    const share = (caller: string | undefined) => running.filter(other => other === caller).length
    for (const turn of waiting) {
      if (running.length >= MAX_CHILDREN) return
      if (share(turn.caller) >= MAX_CHILDREN_OF_CALLER) continue
      waiting.delete(turn)
      running.push(turn.caller)
      turn.begin()
    }
  }

  const turnOf = (caller: string | undefined, signal: AbortSignal | undefined) =>
    new Promise<void>((begin, reject) => {
      const turn = { caller, begin }
      waiting.add(turn)
      signal?.addEventListener('abort', () => {
        waiting.delete(turn)
        reject(signal.reason)
      })
      serve()
    })

  function addSpare(): void {
    spareTimer = undefined
    if (!idle.some(child => child.isAlive)) idle.push(startChild(options))
  }

  closers.push(() => {
    clearTimeout(spareTimer)
    spareTimer = undefined
    generation++
    return Promise.all(idle.splice(0).map(child => child.kill()))
  })

  return async (args, { caller: named, origin, signal } = {}) => {
    signal?.throwIfAborted()
    const caller = named ?? origin
    await turnOf(caller, signal)
    idle = idle.filter(each => each.isAlive)
    const child = idle.shift() ?? startChild(options)
    const started = generation
    const kill = () => void child.kill()
    signal?.addEventListener('abort', kill)
    spareTimer ??= setTimeout(addSpare, SPARE_AFTER_MS).unref()
    try {
      return await child.run(args)
    } finally {
      signal?.removeEventListener('abort', kill)
      running.splice(running.indexOf(caller), 1)
      if (child.isAlive) idle.unshift(child)
      serve()
      for (const each of idle.splice(started === generation ? MAX_IDLE : 0)) void each.kill()
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
    env: Object.fromEntries(VARIABLES.map(key => [key, process.env[key]])),
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
      const { error, value, isUseless } = await new Promise<Answer>(resolve => {
        settle = resolve
        // Ignore a closed channel: the exit event follows and says more.
        child.send({ args }, () => {})
      })
      settle = undefined
      hold('unref')
      if (isUseless) void self.kill()
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
