// The thread behind `Watchdog`. Uses Atomics only, because the main thread may never respond.
import { workerData } from 'node:worker_threads'
import { parentIsGone } from '../runtime/platform.ts'
import type { WatchdogData } from './watchdog.ts'

const { state, atRest, atWork, parentPid, checkEveryMs }: WatchdogData = workerData

for (;;) {
  Atomics.wait(state, 0, atRest)
  Atomics.wait(state, 0, atWork, checkEveryMs)
  if (parentIsGone(parentPid)) process.kill(process.pid, 'SIGKILL')
}
