import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'

/** This process among all that share a database. */
export interface Identity {
  /** Stays the same over restarts. */
  id: string
  /** Of this life of the process: what it leaves behind belongs to this name alone. */
  process: string
  pool: string
  role: 'worker' | 'gateway'
  host: string
  pid: number
  /** Of the advisory lock that it holds while it lives. */
  lockKey: number
}

export function identityOf(id: string, pool: string, role: Identity['role']): Identity {
  return {
    ...{ id, pool, role, host: hostname(), pid: process.pid },
    process: `${id}~${randomBytes(6).toString('hex')}`,
    lockKey: randomInt(1, 2 ** 31 - 1),
  }
}

/** The stable name in the name of a process. */
export function workerOf(process: string): string {
  const end = process.lastIndexOf('~')
  return end === -1 ? process : process.slice(0, end)
}

/** Two processes may have been given the same id; the second one gets a number. */
export function freeId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id
  for (let number = 2; ; number++) if (!taken.has(`${id}-${number}`)) return `${id}-${number}`
}
