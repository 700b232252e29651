import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'

/** This process among all those sharing a database. */
export interface Identity {
  /** Stays the same over restarts. */
  id: string
  /** Unique to this run of the process, so that what it leaves behind can be told apart. */
  process: string
  pool: string
  role: 'worker' | 'gateway'
  host: string
  pid: number
  /** Key of the advisory lock it holds while it lives. */
  lockKey: number
}

export function identityOf(id: string, pool: string, role: Identity['role']): Identity {
  return {
    ...{ id, pool, role, host: hostname(), pid: process.pid },
    process: `${id}~${randomBytes(6).toString('hex')}`,
    lockKey: randomInt(1, 2 ** 31 - 1),
  }
}

/** The stable id within the name of a process. */
export function workerOf(process: string): string {
  const end = process.lastIndexOf('~')
  return end === -1 ? process : process.slice(0, end)
}

/** If two processes were given the same id, the second one gets a number. */
export function freeId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id
  for (let number = 2; ; number++) if (!taken.has(`${id}-${number}`)) return `${id}-${number}`
}
