import { randomUUID } from 'node:crypto'
import type { Tool, ToolCall, ToolResult } from 'toolpost'
import type { AcceptedRun, DurableRunOptions, RefusedRun } from 'toolpost/project'
import type { Connection } from './connection.ts'
import { messageOf } from './database/database-problem.ts'
import { type Admission, cancelRun, enqueueRun, startRun } from './engine/engine.ts'
import { failed, nobodyOffers, unavailable } from './runs/kept-result.ts'
import { readStored } from './runs/run-rows.ts'
import { attributesOf, idOfKey, storedRun } from './runs/stored-run.ts'
import { queueFor } from './workers/queues.ts'

/** How long the database may take to journal a run: enough for it to come back after a short outage. */
const JOURNAL_WITHIN_MS = 5_000
const DEFAULT_APPROVAL_MS = 24 * 3_600_000

/** Where a run goes: without a `queue`, to the tool in this process. */
type Route = { repeatable: boolean; queue?: string } | { refused: ToolResult }

/** Journals a run and sends it on its way. Never rejects. */
export async function acceptRun(
  connection: Connection,
  call: ToolCall,
  options: DurableRunOptions,
): Promise<AcceptedRun | RefusedRun> {
  const { name } = call
  const { key, caller } = options
  const pool = options.pool ?? connection.self.pool
  const id = key === undefined ? `run_${randomUUID().replaceAll('-', '')}` : idOfKey(caller, key)
  try {
    const route = await routeOf(connection, call, options)
    if ('refused' in route)
      return (key !== undefined && (await attach(connection, id, call, options))) || route
    const { repeatable, queue } = route
    const run = storable(() => storedRun(call, options, { pool, repeatable }))
    if (typeof run === 'string')
      return { refused: failed(name, { code: 'invalid_arguments', error: `Invalid parameters: ${run}` }) }
    const admission = {
      id,
      run,
      attributes: attributesOf(run),
      signal: AbortSignal.timeout(JOURNAL_WITHIN_MS),
    }
    if (options.approval) return await ask(connection, admission, { options, queue })
    const accepted = await (queue === undefined
      ? begin(connection, admission, options)
      : enqueue(connection, admission, { queue }))
    return accepted ?? (await attach(connection, id, call, options)) ?? gone(name, id)
  } catch (error) {
    // It may have been journalled anyway, with nobody waiting for it.
    if (key === undefined) void cancelRun(id).catch(() => {})
    return { refused: unavailable(name, `the call could not be journalled: ${messageOf(error)}`) }
  }
}

async function routeOf(connection: Connection, call: ToolCall, options: DurableRunOptions): Promise<Route> {
  const { self, executor, roster } = connection
  const { name } = call
  const pool = options.pool ?? self.pool
  const own = pool === self.pool && self.role === 'worker' ? executor.tools.findTool(name) : undefined
  const offer = roster.find(pool, name)
  const isServed = (offer?.processes.length ?? 0) > 0
  if (own) {
    const { queue, isLimited } = connection.queueOf(name)
    return { repeatable: isRepeatable(own), ...(isLimited && isServed && { queue }) }
  }
  if (offer && isServed) return { repeatable: isRepeatable(offer.tool), queue: offer.queue }
  if (!offer && options.pool === undefined && self.role === 'worker')
    return { refused: await executor.run(call, { ...options, signal: undefined }) }
  return { refused: unavailable(name, nobodyOffers(pool, offer?.goneSince)) }
}

function isRepeatable({ readOnly, idempotent }: Pick<Tool, 'readOnly' | 'idempotent'>): boolean {
  return readOnly === true || idempotent === true
}

/** Starts a run in this process. `undefined` if the id is already taken. */
async function begin(
  { carrier, ends, notices }: Connection,
  admission: Admission,
  options: DurableRunOptions,
): Promise<AcceptedRun | undefined> {
  const { id } = admission
  const { tool } = admission.run
  const live = carrier.expect(id, options)
  const admitted = await carrier
    .outside(() => startRun(admission))
    .catch(error => {
      carrier.forget(id)
      throw error
    })
  if (!admitted) {
    carrier.forget(id)
    return undefined
  }
  notices.send({ changed: id })
  const result = admitted
    .ended()
    .then(kept => ({ ...(live.result ?? kept), run_id: id }))
    // Cancelled or handed over: it ends elsewhere, or later.
    .catch(() => endElsewhere(ends, id, tool))
    .finally(() => carrier.forget(id))
  return { id, result }
}

function endElsewhere(ends: Connection['ends'], id: string, tool: string): Promise<ToolResult> {
  const { result } = ends.wait(id, tool)
  ends.announce(id)
  return result
}

/** Queues a run for any worker to take. `undefined` if the id is already taken. */
async function enqueue(
  { carrier, ends, notices }: Connection,
  admission: Admission,
  how: { queue: string; isHeld?: boolean },
): Promise<AcceptedRun | undefined> {
  const { id } = admission
  const { result, giveUp } = ends.wait(id, admission.run.tool)
  const admitted = await carrier
    .outside(() => enqueueRun(admission, how))
    .catch(error => {
      giveUp()
      throw error
    })
  if (!admitted) giveUp()
  else if (!how.isHeld) notices.send({ queue: how.queue })
  notices.send({ changed: id })
  return admitted && { id, result }
}

/** Asks a person first. The question is stored before the run that waits for it. */
async function ask(
  connection: Connection,
  admission: Admission,
  { options, queue }: { options: DurableRunOptions; queue: string | undefined },
): Promise<AcceptedRun | RefusedRun> {
  const { id, run } = admission
  const { because, timeoutMs = DEFAULT_APPROVAL_MS } = options.approval ?? {}
  const askedAt = Date.now()
  const about = { tool: run.tool, args: run.args, origin: run.origin, caller: run.caller, because }
  const approval = {
    id: randomUUID(),
    ...about,
    askedAt,
    expiresAt: askedAt + timeoutMs,
    state: 'waiting' as const,
  }
  await connection.approvals.ask(id, approval)
  const how = { queue: queue ?? queueFor(connection.self.pool, undefined), isHeld: true }
  const accepted = await enqueue(connection, admission, how)
  connection.notices.send({ approvals: true })
  return (
    accepted ??
    (await attach(connection, id, { name: run.tool, args: run.args }, options)) ??
    gone(run.tool, id)
  )
}

/** Attaches to the run that already used this key. */
async function attach(
  { database, ends }: Connection,
  id: string,
  call: ToolCall,
  options: DurableRunOptions,
): Promise<AcceptedRun | RefusedRun | undefined> {
  const stored = await readStored(database, id)
  if (!stored) return undefined
  const { pool } = stored.run
  const asked = storable(() => attributesOf(storedRun(call, options, { pool, repeatable: false })))
  if (typeof asked === 'string' || asked.call !== stored.attributes.call) {
    const error = `Idempotency key '${options.key}' was used for another call`
    return { refused: failed(call.name, { code: 'invalid_arguments', error }), isConflict: true }
  }
  return { id, result: endElsewhere(ends, id, call.name) }
}

function gone(tool: string, id: string): RefusedRun {
  return { refused: unavailable(tool, `run '${id}' was deleted`) }
}

/** What `make` returns, or why it threw. */
function storable<T extends object>(make: () => T): T | string {
  try {
    return make()
  } catch (error) {
    return messageOf(error)
  }
}
