import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Interceptor, ToolResult } from 'toolpost'
import type { Durable, DurableOptions, DurableRunOptions, DurableStatus } from 'toolpost/project'
import { CHANNEL, Database } from './database.ts'
import { connectionTo, createEmbedded, problemOf } from './postgres.ts'
import * as runs from './run.ts'
import { createWorker, executionOf, oneAtATime } from './worker.ts'

const RETRY_MS = { lost: 500, new: 2_000 }
const LOOK_MS = 1_000
/** In looks. */
const RARELY = 5
/** The tool's own deadline should come first: its result says more. */
const GRACE_MS = 1_000
const CLOSE_LIMIT_MS = 15_000
const DEFAULT_APPROVAL_MS = 24 * 3_600_000
/** The advisory lock of the process that prepares the database. */
const LOCK = 0x54_4f_4f_4c

/**
 * Calls that survive a crash, on the PostgreSQL at `databaseUrl` or an embedded one in `dataDir`. Returns immediately;
 * `ready()` resolves when it is connected, `status()` says why it is not. One per process at a time.
 */
export function createDurable(options: DurableOptions): Durable {
  const { executor, pool = 'default', limits = {}, onChange } = options
  const { tools } = executor
  const isWorker = options.role !== 'gateway'
  const embedded = options.dataDir === undefined ? undefined : createEmbedded(options.dataDir, options)
  const database = new Database(options)
  /** Tells those who wait for a run, by its id, its new state; nothing if this process is closed. */
  const changes = new EventEmitter().setMaxListeners(0)
  /** `once` also listens to errors. */
  const waited = () => changes.eventNames().flatMap(name => (name === 'error' ? [] : String(name)))
  const changed = new Set<string>()
  const worker = createWorker(database, options, row => changes.emit(row.id, row))
  const over = new AbortController()
  let status: DurableStatus = { state: 'starting', text: 'connecting to PostgreSQL' }
  let place = 'PostgreSQL'
  let isPrepared = false
  let closing: Promise<void> | undefined
  let published: Parameters<Durable['publish']>[0] = []
  let looks = 0
  /** The tool that another project was warned about. */
  let clash: string | undefined

  const become = (state: DurableStatus['state'], text: string) => {
    status = { state, text }
    onChange?.({ type: 'state' })
    if (state === 'lost') options.logger?.warn({}, `Durable calls: ${text}`)
  }
  const until = async (isTrue: () => boolean, limitMs = Number.POSITIVE_INFINITY) => {
    const end = performance.now() + limitMs
    while (!isTrue() && !closing && performance.now() < end) await sleep(20)
  }

  /**
   * Connects, again and again. The connection proves that this process is alive: PostgreSQL closes it when the process dies.
   * Over it come the notices from the others.
   */
  async function live(): Promise<void> {
    const { signal } = over
    const ended = once(signal, 'abort')
    while (!closing) {
      let client: pg.Client | undefined
      try {
        const url = (await embedded?.start()) ?? new URL(options.databaseUrl ?? '')
        place = `${url.host || 'the local socket'}${url.pathname}${embedded ? ' (embedded)' : ''}`
        client = new pg.Client(connectionTo(url, database.connection)).on('error', () => {})
        const lost = once(client, 'end').catch(({ message }) => [message])
        await client.connect()
        if (!isPrepared) await prepare(url, client)
        await enter(client)
        become('ready', `connected to ${place}`)
        const timer = setInterval(look, LOOK_MS)
        const [reason = 'the connection was closed'] = await Promise.race([lost, ended])
        clearInterval(timer)
        if (signal.aborted) return
        become('lost', `PostgreSQL at ${place} is unreachable (${reason}); reconnecting`)
      } catch (error) {
        if (!isPrepared) await database.close()
        if (status.state !== 'lost') become('failed', `${problemOf(error, place)}; retrying`)
      } finally {
        void client?.end().catch(() => {})
      }
      await sleep(RETRY_MS[isPrepared ? 'lost' : 'new'], undefined, { signal }).catch(() => {})
    }
  }

  /** Prepares the database and DBOS, while no other process does. */
  async function prepare(url: URL, client: pg.Client): Promise<void> {
    const isFree = () => client.query('SELECT pg_try_advisory_lock($1) AS free', [LOCK])
    // It polls: waiting for the lock would hold up index creation.
    while (!(await isFree()).rows[0].free) await sleep(50)
    await database.open(url)
    await worker.launch()
    isPrepared = true
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK])
  }

  /** Joins the others, over a new connection, and reads what happened meanwhile. */
  async function enter(client: pg.Client): Promise<void> {
    client.on('notification', ({ payload = '{}' }) => {
      const { run, state, asks }: { run?: string; state?: string; asks?: boolean } = JSON.parse(payload)
      if (run === undefined) return look()
      if (state === 'waiting') worker.take()
      if (asks) void tellApprovals().catch(() => {})
      changed.add(run)
      return readChanged()
    })
    await client.query(`LISTEN ${CHANNEL}`)
    await database.publish(published)
    await database.look()
    onChange?.({ type: 'workers' })
    await tellApprovals()
    catchUp()
  }

  /** Reads whatever a lost notice would have said. */
  function catchUp(): void {
    for (const id of [...waited(), ...worker.running.keys()]) changed.add(id)
    readChanged()
    worker.take()
  }

  async function tellApprovals(): Promise<void> {
    const approvals = (await database.asked()).flatMap(({ approval }) => approval ?? [])
    onChange?.({ type: 'approvals', approvals })
  }

  /** Tells what changed to those who wait for it and to the listener. */
  const readChanged = oneAtATime(async () => {
    const ids = [...changed]
    const own = new Map(worker.running)
    changed.clear()
    for (const row of ids.length > 0 ? await database.read(ids) : []) {
      changes.emit(row.id, row)
      onChange?.({ type: 'run', run: runs.runOf(row) })
      if (row.ended_at || row.worker !== database.process) own.get(row.id)?.stop.abort()
    }
  })

  /** Every second: who is alive and who died; if that changed, and every five seconds, what is overdue. */
  const look = oneAtATime(async () => {
    if (closing || !isPrepared) return
    const { isChanged, dead } = await database.look()
    if (isChanged) onChange?.({ type: 'workers' })
    // Two projects that share a database and a pool would run each other's calls.
    const tool = isChanged ? database.clash() : clash
    const problem = `⚠️ Another worker of pool '${pool}' in this database defines '${tool}' differently. If it belongs to another project, give each its own "pool" under "durable", or its own database`
    if (tool !== undefined && tool !== clash) options.onNotice?.(problem)
    clash = tool
    if (looks++ % RARELY !== 0 && !isChanged) return
    await database.sweep([...worker.running.keys()])
    await worker.clean(dead)
    await database.clean()
    catchUp()
  })

  /** Where a run goes: here, or to whoever has the tool; to no queue if nobody has. */
  function route(name: string, wanted: string) {
    const own = isWorker && wanted === pool ? tools.findTool(name) : undefined
    const offer = database.find(wanted, name)
    const server = (own ? tools.originOf(own) : offer?.tool)?.server ?? 'local'
    const isElsewhere = offer?.live && (!own || limits[server])
    const { readOnly, idempotent } = (isElsewhere ? offer.tool : own) ?? {}
    const queue = isElsewhere || own ? `${wanted}/${server}` : undefined
    return { pool: wanted, queue, repeatable: readOnly === true || idempotent === true, isHere: !isElsewhere }
  }

  /** The result of a run, or at the caller's deadline that it goes on. Waiting for a person does not count. */
  async function resultOf(row: runs.RunRow, given: DurableRunOptions): Promise<ToolResult> {
    const { id: run_id, tool: name } = row
    const { maxTimeoutMs, timeoutMs } = tools.findTool(name) ?? database.find(row.pool, name)?.tool ?? {}
    const limitMs = given.timeoutMs ?? maxTimeoutMs ?? timeoutMs ?? executor.timeoutMsOf(name, {})
    let deadline: AbortSignal | undefined
    for (let now: runs.RunRow | undefined = row; now; ) {
      // What is read late may be about an attempt that was refused before.
      const result = now.ended_at && now.attempt >= row.attempt && runs.resultOf(now)
      if (result) return result
      if (now.state === 'running' && now.progress) given.onProgress?.(now.progress)
      deadline = now.state === 'approval' ? undefined : (deadline ?? AbortSignal.timeout(limitMs + GRACE_MS))
      const change: runs.RunRow[] = await once(changes, run_id, { signal: deadline }).catch(() => [])
      const late = `Tool '${name}' timed out after ${limitMs} ms; run '${run_id}' continues`
      if (deadline?.aborted) return { ...runs.failed('timeout', name, late), run_id }
      now = change[0]
    }
    return { ...runs.unavailable(name, 'this process is shutting down; the run continues'), run_id }
  }

  /** Around every call, innermost: that of a run journals its intent, others may have to become runs. */
  const interceptor: Interceptor = async (call, next) => {
    const execution = executionOf(call)
    if (call.failure || call.dryRun) return next()
    if (execution) return worker.invoke(execution, call, next)
    const target = options.handsOver?.(call)
    if (!target) return next()
    const { id, args, caller, signal, timeoutMs, ask, meta, notes, options: given } = call
    const { decision } = (notes.approval ?? {}) as { decision?: string }
    const about = { caller, signal, timeoutMs, ask, meta, onProgress: given.onProgress, pool: target.pool }
    const more = { ...about, origin: 'worker', approved: decision === 'approved' }
    const result = await durable.run({ id, name: target.name, args }, more)
    // How it ended says nothing about a server here.
    notes.run = result.run_id ?? null
    return { ...result, tool_name: call.name }
  }

  const durable: Durable = {
    ready: () => until(() => status.state !== 'starting'),
    status: () => status,
    async run(call, given = {}) {
      const accepted = await durable.accept(call, given)
      if ('refused' in accepted) return accepted.refused
      const cancel = () => void durable.cancel(accepted.id).catch(() => {})
      // With a key, others may be waiting for the same run, and the caller may come back to it.
      const signal = given.key === undefined ? given.signal : undefined
      if (signal?.aborted) cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      return accepted.result
    },
    async accept({ id: callId, name, args }, given = {}) {
      const { key, caller, origin, approval: asks, timeoutMs, repair, meta, calledAs = name } = given
      const wanted = given.pool ?? pool
      const refuse = (why: string) => ({ refused: runs.unavailable(name, why) })
      // Calls that arrive before the first connection wait for it. An outage is answered at once.
      await until(() => ['ready', 'lost'].includes(status.state), executor.timeoutMsOf(name, given))
      if (closing) return refuse('Toolpost is shutting down')
      if (status.state !== 'ready') return refuse(status.text)
      const id = `run_${runs.hashOf(key === undefined ? randomUUID() : ['key', caller ?? null, key]).slice(0, 32)}`
      const askedAt = Date.now()
      const expiresAt = askedAt + (asks?.timeoutMs ?? DEFAULT_APPROVAL_MS)
      const about = { id: `about_${randomUUID()}`, tool: name, args, origin, caller, ...asks }
      const approval = asks && { ...about, askedAt, expiresAt, state: 'waiting' as const }
      try {
        const call_hash = runs.hashOf([calledAs, args ?? {}])
        const { isHere, ...to } = route(name, wanted)
        const starts = isHere && !asks
        const call = { id: callId, args, timeoutMs, repair, meta }
        const run = { id, tool: name, call_hash, call, caller, origin, key }
        const decision = {
          approval,
          expires_at: asks && new Date(expiresAt),
          approved_by: given.approved ? '' : null,
        }
        const waits = { state: asks ? 'approval' : 'waiting' }
        const begun = starts ? { state: 'running', worker: database.process, started_at: 'now' } : waits
        const row =
          to.queue === undefined ? undefined : await database.insert({ ...to, ...run, ...decision, ...begun })
        if (row && starts) worker.start(row, given)
        // Here, the executor reports progress.
        const { onProgress, ...silent } = given
        if (row) return { id, approval, result: resultOf(row, starts ? silent : given) }
        const [known] = key === undefined ? [] : await database.read([id])
        if (!known) return { refused: runs.nobodyRuns(name, wanted, database.find(wanted, name)?.seen) }
        // Without a pool the tool is unknown here by now.
        if (known.call_hash === call_hash && ['', known.pool].includes(wanted))
          return { id, result: resultOf(known, given) }
        const used = `Idempotency key '${key}' was used for another call`
        return { refused: runs.failed('invalid_arguments', name, used), isConflict: true }
      } catch (error) {
        // It may have been journalled anyway, with nobody waiting for it.
        if (key === undefined) void durable.cancel(id).catch(() => {})
        return refuse(`the call could not be journalled: ${problemOf(error, place)}`)
      }
    },
    get: async id => (await database.read([id])).map(runs.runOf)[0],
    async callOf(id) {
      const [row] = await database.read([id])
      const { args, id: _, ...given } = row?.call ?? {}
      return row && { call: { name: row.tool, args }, options: { ...given, pool: row.pool } }
    },
    list: async filter => (await database.list(filter)).map(runs.runOf),
    async cancel(id) {
      const row = await database.cancel(id)
      if (row) changes.emit(id, row)
      return row !== undefined
    },
    workers: () => database.workers(),
    offers: () => database.offers(),
    /** Runs may be waiting for a tool that has just appeared. */
    publish(own) {
      published = isWorker ? own : []
      if (isPrepared) void database.publish(published).then(worker.take, () => {})
    },
    requestApproval(call, asked) {
      const ask = async (row: runs.RunRow) => {
        if (row.approved_by !== null) return { approved: true, reason: '', by: row.approved_by || undefined }
        await database.move('ask', row, asked, new Date(asked.expiresAt))
        return { approved: false, reason: 'the run waits for a decision' }
      }
      const execution = executionOf(call)
      return execution && ask(execution.row)
    },
    /** The first decision counts. */
    async decide(approvalId, decision, { by = '', reason = `denied by ${by || 'the user'}` } = {}) {
      const row = (await database.asked()).find(({ approval }) => approval?.id === approvalId)
      const approve = (run: runs.RunRow) => database.move('approve', run, by)
      const deny = (run: runs.RunRow) => database.finish(run, runs.denied(run.tool, reason), true)
      return row !== undefined && (await (decision === 'approve' ? approve(row) : deny(row))) !== undefined
    },
    close({ drainMs = 10_000 } = {}) {
      // DBOS retries for as long as PostgreSQL is gone.
      const limit = sleep(drainMs + CLOSE_LIMIT_MS, undefined, { ref: false })
      closing ??= Promise.race([close(drainMs), limit])
      return closing
    },
  }

  /** Lets running calls finish, hands over the rest, and stops the database if it was started here. */
  async function close(drainMs: number): Promise<void> {
    await sleep(0)
    const isReady = status.state === 'ready'
    await look()
    await worker.stop(isReady ? drainMs : 0)
    over.abort()
    await main
    if (isReady) await database.leave().catch(() => {})
    for (const id of waited()) changes.emit(id)
    remove()
    await database.close()
    await embedded?.stop()
    become('failed', 'durable calls have been shut down')
  }

  const remove = executor.use(interceptor)
  const main = live()
  return durable
}
