import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseProblem } from '../database/database-problem.ts'

const WAIT_MS = 60_000
const LOOK_EVERY_MS = 50

/** A lock file that holds the pid of its owner; that of a dead process is ignored. */
export class FolderLock {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  static async take(file: string): Promise<FolderLock> {
    for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += LOOK_EVERY_MS) {
      try {
        await writeFile(file, String(process.pid), { flag: 'wx' })
        return new FolderLock(file)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        if (await isStale(file)) await rm(file, { force: true })
        else await sleep(LOOK_EVERY_MS)
      }
    }
    throw new DatabaseProblem(
      `Another process seems to be stuck starting PostgreSQL; if there is none, remove ${file}`,
    )
  }

  async release(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}

async function isStale(file: string): Promise<boolean> {
  const pid = Number(await readFile(file, 'utf8').catch(() => ''))
  // 0 if it was just created and not written yet.
  return Number.isInteger(pid) && pid > 0 && !isAlive(pid)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
