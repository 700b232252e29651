// Runs in the forked process: loads one function of one module and serves calls to it, one at a time.
// Arguments: the parent's process id, the URL of the module, the name of the export.
import type { CallMessage, ChildMessage } from './messages.ts'
import { Watchdog } from './watchdog.ts'
import { toWire } from './wire-error.ts'

const [parentPid = '', moduleUrl = '', exportName = ''] = process.argv.slice(2)

// Ctrl-C and a service manager's SIGTERM reach the whole group. The parent decides when its calls end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not process.exit: the module's exit handlers could delay it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

const watchdog = new Watchdog(Number(parentPid))
watchdog.watch()
send(await start())
watchdog.rest()

async function start(): Promise<ChildMessage> {
  try {
    const exports: Record<string, unknown> = await import(moduleUrl)
    const isolated = exports[exportName]
    if (typeof isolated !== 'function') throw new Error(`${moduleUrl} has no function named '${exportName}'`)
    process.on('message', (message: CallMessage) => answer(isolated as IsolatedCode, message.args))
    return { type: 'ready' }
  } catch (error) {
    return { type: 'unusable', error: toWire(error) }
  }
}

type IsolatedCode = (args: unknown) => unknown

async function answer(isolated: IsolatedCode, args: unknown): Promise<void> {
  watchdog.watch()
  const reply = await outcome(isolated, args)
  try {
    send(reply)
  } catch (error) {
    const { message } = toWire(error)
    send({ type: 'error', error: { name: 'Error', message: `The result cannot be serialized: ${message}` } })
  }
  watchdog.rest()
}

async function outcome(isolated: IsolatedCode, args: unknown): Promise<ChildMessage> {
  try {
    return { type: 'result', value: await isolated(args) }
  } catch (error) {
    return { type: 'error', error: toWire(error) }
  }
}

function send(message: ChildMessage): void {
  process.send?.(message)
}
