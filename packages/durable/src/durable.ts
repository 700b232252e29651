import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall, ToolResult } from 'toolpost'
import type { Durable, DurableOptions, DurableRunOptions } from 'toolpost/project'
import { Connection, type Engine } from './connection.ts'
import { messageOf, problemOf } from './database.ts'
import * as runs from './store.ts'

const STARTING_LOOK_MS = 20
const DEFAULT_DRAIN_MS = 10_000
/** The tool's own deadline should come first: its result says more. */
const GRACE_MS = 1_000
const LISTED_RESULT = 10_000
const MAX_LISTED = 500

/**
 * Calls that survive a crash, on the PostgreSQL at `databaseUrl` or an embedded one in `dataDir`. Returns immediately;
 * `ready()` resolves when it is connected, `status()` says why it is not. One per process at a time.
 */
export function createDurable(options: DurableOptions, { desertedMs = 120_000 } = {}): Durable {
  const { executor, pool = 'default', role = 'worker' } = options
  const id = options.workerId ?? `${hostname()}-${pool}`
  const connection = new Connection({ ...options, id, pool, role, desertedMs })
  let closing: Promise<void> | undefined

  const why = () => (closing ? 'Toolpost is shutting down' : connection.status.text)
  const open = (): Engine => {
    if (connection.engine) return connection.engine
    throw new Error(`Durable calls are unavailable: ${why()}`)
  }

  /** Calls that arrive before the first connection wait for it, within their deadline. An outage is answered at once. */
  async function whenReady(limitMs: number): Promise<Engine | undefined> {
    const until = performance.now() + limitMs
    const isStarting = () =>
      ['starting', 'failed'].includes(connection.status.state) && !connection.isHopeless
    while (isStarting() && !closing && performance.now() < until) await sleep(STARTING_LOOK_MS)
    return connection.status.state === 'ready' && !closing ? connection.engine : undefined
  }

  /** Where a run goes; `undefined` if nobody runs the tool. */
  function route({ workers }: Engine, name: string, pools: readonly string[]) {
    const own = role === 'worker' && pools.includes(pool) ? executor.tools.findTool(name) : undefined
    const offer = workers.find(own ? [pool] : pools, name)
    const isQueued = offer?.processes && (!own || offer.tool.queue !== null)
    const tool = isQueued ? offer.tool : own
    if (!tool) return undefined
    const run = {
      ...{ pool: isQueued ? offer.pool : pool, queue: isQueued ? offer.tool.queue : null },
      repeatable: tool.readOnly === true || tool.idempotent === true,
    }
    return { isHere: !isQueued, run }
  }

  async function refusal({ workers }: Engine, call: ToolCall, given: DurableRunOptions): Promise<ToolResult> {
    const pools = [given.pool ?? pool].flat()
    const gone = workers.find(pools, call.name)
    // A dry run: the tool may appear meanwhile, and must not run after all.
    const isUnknown = !gone && given.pool === undefined && role === 'worker'
    const { result } = isUnknown ? await executor.dryRun(call, { ...given, signal: undefined }) : {}
    return result?.success === false ? result : runs.nobodyRuns(call.name, pools, gone?.seen)
  }

  /** Waits for the run that already used this key; `undefined` if there is none. */
  async function attach(engine: Engine, runId: string, call: ToolCall, given: DurableRunOptions) {
    const [row] = await engine.store.read([runId])
    if (!row) return undefined
    const pools = [given.pool ?? pool].flat()
    // Without a pool the tool is unknown here by now: only its name can be compared.
    const isNamed = pools.length === 0 && row.name === given.calledAs
    const isSameTool = isNamed || (row.tool === call.name && pools.includes(row.pool))
    if (!isSameTool || row.call_hash !== runs.hashOf(call.args ?? {})) {
      const error = `Idempotency key '${given.key}' was used for another call`
      return { refused: runs.failed(call.name, 'invalid_arguments', error), isConflict: true }
    }
    const ended = row.ended_at ? runs.resultOf(row) : undefined
    const result = ended ? Promise.resolve(ended) : engine.waiters.wait(row, given.onProgress)
    return { id: runId, result: inTime(engine, runId, call, given, result) }
  }

  /** The result, or at the caller's deadline that the run goes on. Waiting for a person does not count. */
  async function inTime(
    { store, workers }: Engine,
    runId: string,
    { name }: ToolCall,
    given: DurableRunOptions,
    result: Promise<ToolResult>,
  ): Promise<ToolResult> {
    const offered = workers.find([given.pool ?? pool].flat(), name)?.tool
    const { maxTimeoutMs, timeoutMs } = executor.tools.findTool(name) ?? offered ?? {}
    const limitMs = given.timeoutMs ?? maxTimeoutMs ?? timeoutMs ?? executor.timeoutMsOf(name, {})
    const over = new AbortController()
    void result.finally(() => over.abort())
    const deadline = async () => {
      let state: string | undefined
      do {
        await sleep(limitMs + GRACE_MS, undefined, { signal: over.signal, ref: false })
        state = (await store.read([runId]).catch(() => []))[0]?.state
      } while (state === 'approval')
      const text = `Tool '${name}' timed out after ${limitMs} ms; run '${runId}' continues`
      return runs.failed(name, 'timeout', text, runId)
    }
    return Promise.race([result, deadline().catch(() => result)])
  }

  const durable: Durable = {
    ready: () => connection.tried,
    status: () => connection.status,
    async run(call, given = {}) {
      const { signal, key } = given
      const accepted = await durable.accept(call, given)
      if ('refused' in accepted) return accepted.refused
      const cancel = () => {
        connection.engine?.waiters.settle(accepted.id, runs.cancelled(call.name, accepted.id))
        void durable.cancel(accepted.id).catch(() => {})
      }
      // With a key, others may be waiting for the same run, and the caller may come back to it.
      if (key === undefined) signal?.addEventListener('abort', cancel)
      if (key === undefined && signal?.aborted) cancel()
      return accepted.result.finally(() => signal?.removeEventListener('abort', cancel))
    },
    async accept(call, given = {}) {
      const { name } = call
      const { key, caller, approval } = given
      const engine = await whenReady(executor.timeoutMsOf(name, given))
      if (!engine) return { refused: runs.unavailable(name, why()) }
      let stored: string
      try {
        stored = runs.storedCall(call, given)
      } catch (error) {
        return { refused: runs.failed(name, 'invalid_arguments', `Invalid parameters: ${messageOf(error)}`) }
      }
      const random = randomUUID().replaceAll('-', '')
      const runId = `run_${key === undefined ? random : runs.hashOf(['key', caller ?? null, key]).slice(0, 32)}`
      const pools = [given.pool ?? pool].flat()
      try {
        const where = route(engine, name, pools)
        const worker = where?.isHere && !approval ? engine.workers.process : null
        const about = { id: runId, tool: name, name: given.calledAs ?? name, worker, call: stored }
        const run = where && { ...about, ...where.run, call_hash: runs.hashOf(call.args ?? {}) }
        const row = run && (await engine.store.insert(run, given, pools))
        if (!row) {
          const attached = key === undefined ? undefined : await attach(engine, runId, call, given)
          return attached ?? { refused: await refusal(engine, call, given) }
        }
        const result = engine.waiters.wait(row, worker === null ? given.onProgress : undefined)
        if (worker !== null) engine.runner.start(row, given)
        const asked = approval && { approval: runs.approvalOf(row) }
        return { id: runId, ...asked, result: inTime(engine, runId, call, given, result) }
      } catch (error) {
        // It may have been journalled anyway, with nobody waiting for it.
        if (key === undefined) void durable.cancel(runId).catch(() => {})
        const { message } = problemOf(error, connection.place)
        return { refused: runs.unavailable(name, `the call could not be journalled: ${message}`) }
      }
    },
    get: async runId => (await open().store.read([runId])).map(runs.runOf)[0],
    async callOf(runId) {
      const [row] = await open().store.read([runId])
      if (!row) return undefined
      const { args, id: _, ...given } = runs.storedOf(row)
      return { call: { name: row.tool, args }, options: { ...given, pool: row.pool } }
    },
    isRun: call => connection.engine?.runner.of(call) !== undefined,
    /** Without large results. */
    async list({ tool, caller, state, before, limit = 50 } = {}) {
      const rows = await open().store.query(
        `SELECT *, CASE WHEN length(result) > ${LISTED_RESULT} THEN NULL ELSE result END AS result FROM toolpost.runs
         WHERE ($1::text IS NULL OR tool = $1) AND ($2::text IS NULL OR caller = $2) AND ($3::text IS NULL OR state = $3)
           AND ($4::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM toolpost.runs WHERE id = $4))
         ORDER BY created_at DESC, id DESC LIMIT $5`,
        [tool, caller, state, before, Math.min(Math.max(1, Math.trunc(limit)), MAX_LISTED)],
      )
      return rows.map(runs.runOf)
    },
    async cancel(runId) {
      const { store, runner, waiters } = open()
      const row = await store.change(
        `state = 'cancelled', is_final = true, ended_at = now() WHERE id = $1 AND ended_at IS NULL`,
        [runId],
      )
      runner.lose(runId)
      if (row) waiters.settle(runId, runs.cancelled(row.tool, runId))
      return row !== undefined
    },
    workers: async () => open().workers.list(),
    publish(tools) {
      connection.published = tools
      void connection.publish().catch(() => {})
    },
    offers: () => connection.engine?.workers.offers() ?? [],
    /** The run gives its place back while a person decides, and starts again afterwards. */
    requestApproval(call, asked) {
      const { runner, store } = connection.engine ?? {}
      const row = runner?.of(call)
      if (!row || !store) return undefined
      const by = row.decided_by ?? undefined
      if (row.decision === 'approved') return Promise.resolve({ approved: true, reason: '', by })
      const parked = store.change(
        `state = 'approval', attempt = attempt + 1, worker = NULL, started_at = NULL, approval = $3, asked_at = now(),
           patience_ms = $4 WHERE id = $1 AND attempt = $2 AND state = 'running' AND intent IS NULL`,
        [row.id, row.attempt, asked, asked.expiresAt - asked.askedAt],
      )
      return parked.then(
        () => {
          runner?.lose(row.id)
          return { approved: false, reason: 'the run waits for a decision' }
        },
        error => ({ approved: false, reason: `nobody could be asked: ${messageOf(error)}` }),
      )
    },
    /** The first decision counts. */
    async decide(approvalId, decision, { by, reason = by ? `denied by ${by}` : 'denied by the user' } = {}) {
      const { store } = open()
      const [row] = await store.query(
        `SELECT * FROM toolpost.runs WHERE ended_at IS NULL AND state = 'approval' AND approval->>'id' = $1 AND ${runs.IN_TIME}`,
        [approvalId],
      )
      if (!row) return false
      const approve = `state = 'waiting', decision = 'approved', decided_by = $3
        WHERE id = $1 AND attempt = $2 AND state = 'approval'`
      const decided = await (decision === 'deny'
        ? store.finish(row, runs.denied(row.tool, reason), true)
        : store.change(approve, [row.id, row.attempt, by]))
      return decided !== undefined
    },
    onChange(listener) {
      const own: typeof listener = change => listener(change)
      connection.listeners.add(own)
      return () => void connection.listeners.delete(own)
    },
    close({ drainMs = DEFAULT_DRAIN_MS } = {}) {
      closing ??= connection.close(drainMs)
      return closing
    },
  }
  return durable
}
