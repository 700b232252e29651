import type { CreateDurable } from 'toolpost/project'
import { DurableCalls } from './durable-calls.ts'

/**
 * Calls that survive a crash, on PostgreSQL: `databaseUrl` names one, `dataDir` is the folder of an embedded one. Returns at
 * once; `ready()` says when it is connected, `status()` why it is not. One per process at a time.
 */
export const createDurable: CreateDurable = options => new DurableCalls(options)
