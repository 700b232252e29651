import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Interceptor, ToolResult } from 'toolpost'
import type {
  Durable,
  DurableOptions,
  DurableRunOptions,
  DurableStatus,
  PublishedTool,
} from 'toolpost/project'
import { connectionTo, messageOf, problemOf } from './database.ts'
import { createEmbedded } from './embedded.ts'
import * as runs from './run.ts'
import { createRunner, executionOf } from './runner.ts'
import { ASKS, CHANNEL, Store } from './store.ts'

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 500
const LOOK_EVERY_MS = 1_000
/** In looks. */
const RARELY = 5
const CLEAN_EVERY = 60
/** The tool's own deadline should come first: its result says more. */
const GRACE_MS = 1_000
/** On top of the time that running calls get. */
const CLOSE_LIMIT_MS = 15_000
const DEFAULT_APPROVAL_MS = 24 * 3_600_000
/** The advisory lock of the process that prepares the database. */
const LOCK = 0x54_4f_4f_4c
/** Stands for the tools without an MCP server, among the servers. */
const LOCAL = 'local'

/**
 * Calls that survive a crash, on the PostgreSQL at `databaseUrl` or an embedded one in `dataDir`. Returns immediately;
 * `ready()` resolves when it is connected, `status()` says why it is not. One per process at a time.
 */
export function createDurable(options: DurableOptions): Durable {
  const { executor, pool = 'default', concurrency = 16, limits = {}, servers = [], onChange } = options
  const { tools } = executor
  const isWorker = options.role !== 'gateway'
  const takesRuns = isWorker && concurrency > 0
  const limited = [LOCAL, ...servers].flatMap(server => {
    const limit = limits[server]
    return limit && takesRuns ? [[`${pool}/${server}`, limit] as const] : []
  })
  const embedded = options.dataDir === undefined ? undefined : createEmbedded(options.dataDir, options)
  const store = new Store({ ...options, pool })
  const runner = createRunner({
    ...{ ...options, concurrency, store, queues: new Map(limited) },
    onEnd: (row, result) => {
      changes.emit(row.id, row, result)
      take()
    },
  })
  /** Tells those who wait for a run, by its id, its new state and its result; nothing if this process is closed. */
  const changes = new EventEmitter().setMaxListeners(0)
  /** `once` also listens to errors. */
  const waited = () => changes.eventNames().flatMap(name => (name === 'error' ? [] : String(name)))
  const changed = new Set<string>()
  const over = new AbortController()
  let status: DurableStatus = { state: 'starting', text: 'connecting to PostgreSQL' }
  let place = 'PostgreSQL'
  let isPrepared = false
  /** Trying again is pointless. */
  let isHopeless = false
  let closing: Promise<void> | undefined
  let published: readonly PublishedTool[] = []
  let looks = 0
  /** Dead processes whose runs were taken over. */
  let swept: string[] = []
  /** The tool that another project was warned about. */
  let clash: string | undefined

  const become = (state: DurableStatus['state'], text: string) => {
    status = { state, text }
    onChange?.({ type: 'state' })
  }
  const notice = (text: string) => {
    options.logger?.warn({ state: status.state }, text)
    options.onNotice?.(text)
  }
  const until = async (isTrue: () => boolean, limitMs = Number.POSITIVE_INFINITY) => {
    const end = performance.now() + limitMs
    while (!isTrue() && !closing && performance.now() < end) await sleep(20)
  }

  /**
   * Connects, again and again unless that is pointless. The connection proves that this process is alive: PostgreSQL closes it
   * when the process dies. Over it come the notices from the others.
   */
  async function live(): Promise<void> {
    const { signal } = over
    const ended = once(signal, 'abort')
    for (let delayMs = FIRST_RETRY_MS; !closing; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      let client: pg.Client | undefined
      try {
        const url = (await embedded?.start()) ?? new URL(options.databaseUrl ?? '')
        place = `${url.host || 'the local socket'}${url.pathname}${embedded ? ' (embedded)' : ''}`
        client = new pg.Client(connectionTo(url, store.connection))
        client.on('error', () => {})
        const lost = once(client, 'end').then(() => 'the connection was closed', messageOf)
        await client.connect()
        if (!isPrepared) await prepare(url, client)
        await enter(client)
        const isBack = status.state === 'lost'
        become('ready', `connected to ${place}`)
        if (isBack) notice(`PostgreSQL at ${place} is reachable again; durable calls continue`)
        const timer = setInterval(look, LOOK_EVERY_MS)
        const reason = await Promise.race([lost, ended])
        clearInterval(timer)
        if (signal.aborted) return
        delayMs = FIRST_RETRY_MS
        become('lost', `PostgreSQL at ${place} is unreachable (${reason}); reconnecting`)
        notice(`${status.text}. Calls that need it fail until then; accepted ones continue afterwards`)
      } catch (error) {
        const { message, isLasting } = problemOf(error, place)
        isHopeless = isLasting && !isPrepared
        if (!isPrepared) await store.close()
        if (!isPrepared) become('failed', isLasting ? message : `${message}; retrying`)
        if (isHopeless) return
      } finally {
        void client?.end().catch(() => {})
      }
      await sleep(delayMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Prepares the database and DBOS, while no other process does. */
  async function prepare(url: URL, client: pg.Client): Promise<void> {
    const isFree = () => client.query('SELECT pg_try_advisory_lock($1) AS free', [LOCK])
    // It polls: waiting for the lock would hold up index creation.
    while (!(await isFree()).rows[0].free) await sleep(FIRST_RETRY_MS)
    await store.open(url)
    await runner.launch()
    isPrepared = true
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK])
  }

  /** Joins the others, over a new connection, and reads what happened meanwhile. */
  async function enter(client: pg.Client): Promise<void> {
    client.on('notification', ({ payload = '{}' }) => {
      const { run, state, asks }: { run?: string; state?: string; asks?: boolean } = JSON.parse(payload)
      if (run === undefined) return look()
      if (state === 'waiting') take()
      if (asks) void tellApprovals().catch(() => {})
      changed.add(run)
      return readChanged()
    })
    await client.query(`LISTEN ${CHANNEL}`)
    await store.publish(published)
    await store.look()
    onChange?.({ type: 'workers' })
    await tellApprovals()
    readAll()
    take()
  }

  const asked = () => store.query(`SELECT * FROM toolpost.runs WHERE ${ASKS} ORDER BY created_at LIMIT 1000`)

  async function tellApprovals(): Promise<void> {
    const approvals = (await asked()).flatMap(({ approval }) => approval ?? [])
    onChange?.({ type: 'approvals', approvals })
  }

  /** Tells what changed to those who wait for it and to the listener. */
  const readChanged = oneAtATime(async () => {
    const ids = [...changed]
    const own = new Map(runner.running)
    changed.clear()
    for (const row of await store.query('SELECT * FROM toolpost.runs WHERE id = ANY($1)', [ids])) {
      changes.emit(row.id, row)
      onChange?.({ type: 'run', run: runs.runOf(row) })
      if (row.ended_at || row.worker !== store.process) runner.lose(own.get(row.id))
    }
  })

  /** Whatever a lost notice would have said. */
  function readAll(): void {
    for (const id of [...waited(), ...runner.running.keys()]) changed.add(id)
    if (changed.size > 0) readChanged()
  }

  /** Starts as many waiting runs as there is room for. */
  const take = oneAtATime(async () => {
    if (!isPrepared || !takesRuns || closing) return
    const names = tools.getTools().map(({ name }) => name)
    await runner.enqueue(names)
    const room = concurrency - runner.running.size
    if (room <= 0) return
    const rows = await store.query(
      `UPDATE toolpost.runs SET state = 'running', worker = $5, started_at = now() WHERE id IN (
         SELECT id FROM toolpost.runs WHERE ended_at IS NULL AND state = 'waiting' AND pool = $1 AND tool = ANY($2)
           AND queue <> ALL($3) ORDER BY created_at LIMIT $4 FOR UPDATE SKIP LOCKED) RETURNING *`,
      [pool, names, limited.map(([queue]) => queue), room, store.process],
    )
    for (const row of rows) runner.start(row)
  })

  /** Every second: who is alive, who died, and what is overdue. */
  const look = oneAtATime(async () => {
    if (closing || !isPrepared) return
    const { isChanged, dead } = await store.look()
    if (isChanged) onChange?.({ type: 'workers' })
    // Two projects that share a database and a pool would run each other's calls.
    const tool = isChanged ? store.clash() : clash
    if (tool !== undefined && tool !== clash)
      notice(
        `⚠️ Another worker of pool '${pool}' in this database defines '${tool}' differently. If it belongs to another project, give each its own "pool" under "durable", or its own database`,
      )
    clash = tool
    const unswept = dead.filter(name => !swept.includes(name))
    if (unswept.length > 0) await store.takeOver(unswept)
    if (unswept.length > 0) await runner.reclaim(unswept)
    swept = dead
    if (looks % RARELY === 0) {
      // Taken by this process, but PostgreSQL was gone before it could say so.
      const isForgotten = "worker = $2 AND NOT id = ANY($3) AND started_at < now() - interval '5 s'"
      await store.requeue(isForgotten, [store.process, [...runner.running.keys()]])
      await store.endOverdue()
      readAll()
      take()
    }
    if (looks++ % CLEAN_EVERY !== 0) return
    await store.clean(dead)
    await runner.clean()
  })

  /** Where a run goes: here, or to whoever has the tool; `undefined` if nobody has. */
  function route(name: string, wanted: string) {
    const own = isWorker && wanted === pool ? tools.findTool(name) : undefined
    const offer = store.find(wanted, name)
    const server = (own ? tools.originOf(own) : offer?.tool)?.server ?? LOCAL
    const isElsewhere = offer?.live && (!own || limits[server])
    const tool = isElsewhere ? offer.tool : own
    const repeatable = tool?.readOnly === true || tool?.idempotent === true
    const worker = isElsewhere ? null : store.process
    return tool && { pool: wanted, queue: `${wanted}/${server}`, worker, repeatable }
  }

  /** The result of a run, or at the caller's deadline that it goes on. Waiting for a person does not count. */
  async function resultOf(row: runs.RunRow, given: DurableRunOptions): Promise<ToolResult> {
    const { id, tool: name } = row
    const { maxTimeoutMs, timeoutMs } = tools.findTool(name) ?? store.find(row.pool, name)?.tool ?? {}
    const limitMs = given.timeoutMs ?? maxTimeoutMs ?? timeoutMs ?? executor.timeoutMsOf(name, {})
    let deadline: AbortSignal | undefined
    let now: runs.RunRow | undefined = row
    let result: ToolResult | undefined
    while (now) {
      result ??= now.ended_at ? runs.resultOf(now) : undefined
      if (result) return result
      if (now.state === 'running' && now.progress) given.onProgress?.(now.progress)
      deadline = now.state === 'approval' ? undefined : (deadline ?? AbortSignal.timeout(limitMs + GRACE_MS))
      const change: unknown[] = await once(changes, id, deadline && { signal: deadline }).catch(() => [])
      if (deadline?.aborted) return runs.failed('timeout', name, `${limitMs} ms; run '${id}' continues`, id)
      ;[now, result] = change as [runs.RunRow?, ToolResult?]
    }
    return runs.failed('unavailable', name, 'this process is shutting down; the run continues', id)
  }

  /** Around every call, innermost: that of a run journals its intent, others may have to become runs. */
  const interceptor: Interceptor = async (call, next) => {
    const execution = executionOf(call)
    if (call.failure || call.dryRun) return next()
    if (execution) return runner.invoke(execution, call, next)
    const target = options.handsOver?.(call)
    if (!target) return next()
    const { id, args, caller, signal, timeoutMs, ask, meta, options: given } = call
    const { decision } = (call.notes.approval ?? {}) as { decision?: string }
    const about = { origin: 'worker', caller, signal, timeoutMs, ask, meta, onProgress: given.onProgress }
    const more = { ...about, pool: target.pool, approved: decision === 'approved' }
    const result = await durable.run({ id, name: target.name, args }, more)
    if (result.run_id !== undefined) call.notes.run = result.run_id
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
    async accept(call, given = {}) {
      const { name, args } = call
      const { key, caller, origin, approval: asks, timeoutMs, repair, meta, calledAs = name } = given
      const wanted = given.pool ?? pool
      const refuse = (code: 'unavailable' | 'invalid_arguments', why: string) => runs.failed(code, name, why)
      // Calls that arrive before the first connection wait for it. An outage is answered at once.
      const isTried = () => ['ready', 'lost'].includes(status.state) || isHopeless
      await until(isTried, executor.timeoutMsOf(name, given))
      if (closing) return { refused: refuse('unavailable', 'Toolpost is shutting down') }
      if (status.state !== 'ready') return { refused: refuse('unavailable', status.text) }
      const stored = runs.jsonWithin({ id: call.id, args, timeoutMs, repair, meta })
      const tooLarge = 'Invalid parameters: a durable call takes at most 1 MB of JSON'
      if (stored === undefined) return { refused: refuse('invalid_arguments', tooLarge) }
      const random = randomUUID().replaceAll('-', '')
      const id = `run_${key === undefined ? random : runs.hashOf(['key', caller ?? null, key]).slice(0, 32)}`
      const call_hash = runs.hashOf([calledAs, args ?? {}])
      const askedAt = Date.now()
      const expiresAt = askedAt + (asks?.timeoutMs ?? DEFAULT_APPROVAL_MS)
      const about = { id: `about_${randomUUID()}`, tool: name, args, origin, caller, ...asks }
      const approval = asks && { ...about, askedAt, expiresAt, state: 'waiting' as const }
      try {
        const to = route(name, wanted)
        const worker = asks ? null : (to?.worker ?? null)
        const isHere = worker !== null
        const run = {
          ...{ ...to, id, tool: name, call: stored, call_hash, caller, origin, key, worker, approval },
          ...{ state: asks ? 'approval' : isHere ? 'running' : 'waiting', started_at: isHere ? 'now' : null },
          ...{ approved_by: given.approved ? '' : null, expires_at: asks ? new Date(expiresAt) : null },
        }
        const row = to && (await store.insert(run))
        if (row && isHere) runner.start(row, given)
        // Here, the executor reports progress.
        const { onProgress, ...silent } = given
        if (row) return { id, approval, result: resultOf(row, isHere ? silent : given) }
        const known = key === undefined ? undefined : await store.read(id)
        if (!known) return { refused: runs.nobodyRuns(name, wanted, store.find(wanted, name)?.seen) }
        // Without a pool the tool is unknown here by now.
        if (known.call_hash === call_hash && (wanted === '' || wanted === known.pool))
          return { id, result: resultOf(known, given) }
        const used = `Idempotency key '${key}' was used for another call`
        return { refused: refuse('invalid_arguments', used), isConflict: true }
      } catch (error) {
        // It may have been journalled anyway, with nobody waiting for it.
        if (key === undefined) void durable.cancel(id).catch(() => {})
        const { message } = problemOf(error, place)
        return { refused: refuse('unavailable', `the call could not be journalled: ${message}`) }
      }
    },
    async get(id) {
      const row = await store.read(id)
      return row && runs.runOf(row)
    },
    async callOf(id) {
      const row = await store.read(id)
      if (!row) return undefined
      const { args, id: _, ...given } = row.call
      return { call: { name: row.tool, args }, options: { ...given, pool: row.pool } }
    },
    /** Without large results. */
    async list({ tool, caller, state, before, limit = 50 } = {}) {
      const rows = await store.query(
        `SELECT *, CASE WHEN length(result::text) > 10000 THEN NULL ELSE result END AS result FROM toolpost.runs
         WHERE ($1::text IS NULL OR tool = $1) AND ($2::text IS NULL OR caller = $2) AND ($3::text IS NULL OR state = $3)
           AND ($4::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM toolpost.runs WHERE id = $4))
         ORDER BY created_at DESC, id DESC LIMIT least($5, 500)`,
        [tool, caller, state, before, limit],
      )
      return rows.map(runs.runOf)
    },
    async cancel(id) {
      const end = `state = 'cancelled', is_final = true, ended_at = now() WHERE id = $1 AND ended_at IS NULL`
      const row = await store.change(end, [id])
      if (row) changes.emit(id, row)
      return row !== undefined
    },
    workers: () => store.workers(),
    offers: () => store.offers(),
    /** Runs may be waiting for a tool that has just appeared. */
    publish(own) {
      published = isWorker ? own : []
      if (isPrepared) void store.publish(published).then(take, () => {})
    },
    /** The run gives its place back while a person decides, and starts again afterwards. */
    requestApproval(call, asked) {
      const { id, attempt, approved_by } = executionOf(call)?.row ?? {}
      if (id === undefined) return undefined
      if (approved_by != null)
        return Promise.resolve({ approved: true, reason: '', by: approved_by || undefined })
      const park = `state = 'approval', attempt = attempt + 1, worker = NULL, started_at = NULL, approval = $3, expires_at = $4
        WHERE id = $1 AND attempt = $2 AND state = 'running' AND intent IS NULL`
      const parked = store.change(park, [id, attempt, asked, new Date(asked.expiresAt)])
      const refuse = (reason: string) => ({ approved: false, reason })
      return parked.then(
        () => refuse('the run waits for a decision'),
        error => refuse(messageOf(error)),
      )
    },
    /** The first decision counts. */
    async decide(
      approvalId,
      decision,
      { by = '', reason = by ? `denied by ${by}` : 'denied by the user' } = {},
    ) {
      const row = (await asked()).find(({ approval }) => approval?.id === approvalId)
      if (!row) return false
      const approve =
        "state = 'waiting', approved_by = $3 WHERE id = $1 AND attempt = $2 AND state = 'approval'"
      const decided = await (decision === 'deny'
        ? store.finish(row, runs.failed('denied', row.tool, reason), true)
        : store.change(approve, [row.id, row.attempt, by]))
      return decided !== undefined
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
    await Promise.all([look(), take()])
    await runner.stop(isReady ? drainMs : 0)
    over.abort()
    await main
    const leave = 'UPDATE toolpost.workers SET closed = true WHERE process = $1'
    if (isReady) await store.takeOver([store.process]).catch(() => {})
    if (isReady) await store.query(leave, [store.process]).catch(() => {})
    for (const id of waited()) changes.emit(id)
    remove()
    await store.close()
    await embedded?.stop()
    become('failed', 'durable calls have been shut down')
  }

  const remove = (options.use ?? (inside => executor.use(inside)))(interceptor)
  const main = live()
  return durable
}

/** Runs `work` again if it was asked for meanwhile, but never twice at once. What fails is tried again the next time. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isWanted = false
  const loop = async () => {
    for (; isWanted; await work().catch(() => {})) isWanted = false
    running = undefined
  }
  return () => {
    isWanted = true
    running ??= loop()
    return running
  }
}
