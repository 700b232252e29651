// The thread behind `Watchdog`. Works by Atomics alone, because the main thread may never answer.
import { workerData } from 'node:worker_threads'
import type { WatchdogData } from './watchdog.ts'

const { state, atRest, atWork, parentPid, checkEveryMs }: WatchdogData = workerData

for (;;) {
  Atomics.wait(state, 0, atRest)
  Atomics.wait(state, 0, atWork, checkEveryMs)
  if (parentIsGone()) process.kill(process.pid, 'SIGKILL')
}

function parentIsGone(): boolean {
  // Elsewhere an orphan gets a new parent; on Windows it keeps the id of the old one.
  if (process.platform !== 'win32') return process.ppid !== parentPid
  try {
    process.kill(parentPid, 0)
    return false
  } catch {
    return true
  }
}
