import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** The memory, in bytes, of those that are alive. A zombie, which only waits for its parent to notice, is not. */
export function memoryOf(pids: readonly number[]): number[] {
  const args = ['-o', 'rss=,stat=', '-p', pids.join(',')]
  try {
    const rows = execFileSync('ps', args, { encoding: 'utf8' }).trim().split('\n')
    return rows.filter(row => !row.includes('Z')).map(row => Number.parseInt(row, 10) * 1_024)
  } catch {
    // There are none.
    return []
  }
}

export function killProcess(pid: number | undefined): void {
  try {
    if (pid) process.kill(pid, 'SIGKILL')
  } catch {}
}

export async function waitUntil(isTrue: () => boolean, withinMs: number): Promise<boolean> {
  const until = Date.now() + withinMs
  while (!isTrue()) {
    if (Date.now() > until) return false
    await pause(10)
  }
  return true
}
