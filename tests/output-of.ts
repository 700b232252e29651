import type { ChildProcessWithoutNullStreams } from 'node:child_process'

/** Collects what a program writes, and its exit code; `null` if it was killed. */
export function outputOf(child: ChildProcessWithoutNullStreams) {
  const written = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    written.out += chunk
  })
  child.stderr.on('data', chunk => {
    written.err += chunk
  })
  const exit = new Promise<number | null>(resolve => child.once('close', resolve))
  return { out: () => written.out, err: () => written.err, exit }
}
