// Runs in the forked process: loads one function of one module and serves calls to it, one at a time.
// Arguments: the parent's process id, the URL of the module, the name of the export, and one for messages.
import { Worker } from 'node:worker_threads'

export interface Answer {
  value?: unknown
  /** What a caller can act on, and no stack. */
  error?: { message: string; code?: unknown; status?: unknown }
}

const [parentPid, moduleUrl = '', exportName = '', name = ''] = process.argv.slice(2)

// Ctrl-C and a service manager's SIGTERM reach the whole group. The parent decides when its calls end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not process.exit: the module's exit handlers could delay it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// A spinning thread never sees that its channel was closed, so another one looks whether the parent is still there.
const watch = `setInterval(() => {
  try { if (process.ppid === ${parentPid} && process.kill(${parentPid}, 0)) return } catch {}
  process.kill(process.pid, 'SIGKILL')
}, 500)`
new Worker(watch, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref()

const loaded = import(moduleUrl).then(
  module => (args: unknown) => {
    if (typeof module[exportName] === 'function') return module[exportName](args)
    throw new Error(`${name} cannot be started: ${moduleUrl} has no function named '${exportName}'`)
  },
  error => () => {
    throw new Error(`${name} cannot be started: ${errorOf(error).message}`)
  },
)

process.on('message', async ({ args }: { args: unknown }) => {
  const isolated = await loaded
  const answer = await Promise.resolve(args)
    .then(isolated)
    .then<Answer, Answer>(
      value => ({ value }),
      error => ({ error: errorOf(error) }),
    )
  try {
    process.send?.(answer)
  } catch (error) {
    process.send?.({ error: { message: `The result cannot be serialized: ${errorOf(error).message}` } })
  }
})

/** Describes anything that was thrown, with the code of its cause ("fetch failed"). */
function errorOf(thrown: unknown): NonNullable<Answer['error']> {
  if (!(thrown instanceof Error)) return { message: String(thrown) }
  type Thrown = Error & { cause?: { code?: unknown }; code?: unknown; status?: unknown }
  const { message, cause, status, code = cause?.code } = thrown as Thrown
  return { message: String(message), code: code && String(code), status: Number(status) }
}
