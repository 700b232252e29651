import type { CreateDurable } from 'toolpost/project'
import { DurableCalls } from './durable-calls.ts'

/**
 * Calls that survive a crash, on the PostgreSQL at `databaseUrl` or an embedded one in `dataDir`. Returns immediately;
 * `ready()` resolves when it is connected, `status()` says why it is not. One per process at a time.
 */
export const createDurable: CreateDurable = options => new DurableCalls(options)
