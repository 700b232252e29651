// Runs in the forked process: loads one function of one module and serves calls to it, one at a time.
// Arguments: the parent's process id, the URL of the module, the name of the export, and one for messages.
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'

/** An error as sent to the parent: what a caller can act on, and no stack. */
interface SentError {
  message: string
  name?: string
  code?: unknown
  status?: unknown
  cause?: SentError
}

export interface Answer {
  value?: unknown
  error?: SentError
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
  error => ({ problem: sentError(error).message }),
)
process.on('message', async ({ args }: { args: unknown }) => {
  try {
    if (typeof loaded.isolated === 'function') process.send?.(await answerTo(loaded.isolated, args))
    else
      process.send?.({ error: { message: `${name} cannot be started: ${loaded.problem}` }, isUseless: true })
  } catch (error) {
    process.send?.({ error: { message: `The result cannot be serialized: ${sentError(error).message}` } })
  }
})

async function answerTo(isolated: (args: unknown) => unknown, args: unknown): Promise<Answer> {
  try {
    return { value: await isolated(args) }
  } catch (error) {
    return { error: sentError(error) }
  }
}

/** Describes anything that was thrown, with its cause but not the cause's cause. */
function sentError(thrown: unknown, withCause = true): SentError {
  if (!(thrown instanceof Error))
    return { message: typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1 }) }
  const { name, message, cause } = thrown
  const { code, status } = thrown as { code?: unknown; status?: unknown }
  return {
    ...{ name: String(name), message: String(message) },
    ...(code !== undefined && { code: String(code) }),
    ...(typeof status === 'number' && { status }),
    ...(withCause && cause !== undefined && { cause: sentError(cause, false) }),
  }
}
