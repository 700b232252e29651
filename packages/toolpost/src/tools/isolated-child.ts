// Runs in the forked process: loads one function of one module and serves calls to it, one at a time.
// Arguments: the parent's process id, the URL of the module, the name of the export, and one for messages.
import { Worker } from 'node:worker_threads'

export interface Answer {
  value?: unknown
  /** What a caller can act on, and no stack. */
  error?: { message: string; name?: string; code?: unknown; status?: unknown }
  /** The function cannot be loaded. */
  isUseless?: boolean
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

const loaded: { isolated?: (args: unknown) => unknown; problem?: string } = await import(moduleUrl).then(
  module => ({ isolated: module[exportName], problem: `${moduleUrl} has no function named '${exportName}'` }),
  error => ({ problem: errorOf(error).message }),
)
process.on('message', async ({ args }: { args: unknown }) => {
  const { isolated, problem } = loaded
  if (typeof isolated !== 'function')
    return process.send?.({ error: { message: `${name} cannot be started: ${problem}` }, isUseless: true })
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
  const { name, message, cause, ...fields } = thrown as Error & { code?: unknown; status?: unknown }
  const { code = (cause as { code?: unknown } | undefined)?.code, status } = fields
  const plain = {
    name: String(name),
    message: String(message),
    ...(code !== undefined && { code: String(code) }),
  }
  return typeof status === 'number' ? { ...plain, status } : plain
}
