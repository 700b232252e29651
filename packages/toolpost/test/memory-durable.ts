import { randomUUID } from 'node:crypto'
import type { FailureCode } from '../src/call/failure-codes.ts'
import type { ToolCall } from '../src/call/tool-call.ts'
import type { ToolResult } from '../src/call/tool-result.ts'
import type { RunOptions } from '../src/executor/options.ts'
import type { Verdict } from '../src/interceptors/approval.ts'
import { fingerprint } from '../src/interceptors/canonical.ts'
import type { Approval } from '../src/interceptors/index.ts'
import type * as engine from '../src/project/durable.ts'

interface Entry {
  run: engine.Run
  call: ToolCall
  options: engine.DurableRunOptions
  result: Promise<ToolResult>
  controller: AbortController
  /** A person has approved it. */
  approved?: boolean
}

interface Process {
  options: engine.DurableOptions
  pool: string
  tools: readonly engine.PublishedTool[]
  goneSince?: string
}

const now = () => new Date().toISOString()
const entryOf = ({ options }: { options: RunOptions }) => (options as { entry?: Entry }).entry

/** What the engine keeps in PostgreSQL, in memory: for what is around the engine. Processes share one by its maker. */
export class MemoryDatabase {
  readonly entries = new Map<string, Entry>()
  readonly processes = new Set<Process>()
  readonly #approvals = new Map<string, { asked: Approval; settle(verdict: Verdict): void }>()
  /** While it is set, the worker of every run is lost. */
  isLosing = false

  #tell(change: engine.DurableChange): void {
    for (const { options, goneSince } of this.processes) if (!goneSince) options.onChange?.(change)
  }

  #tellApprovals(): void {
    this.#tell({ type: 'approvals', approvals: [...this.#approvals.values()].map(({ asked }) => asked) })
  }

  /** An engine on this database. */
  create = (options: engine.DurableOptions): engine.Durable => {
    const { executor, pool = 'default' } = options
    const own: Process = { options, pool, tools: [] }
    this.processes.add(own)
    const remove = executor.use(async (call, next) => {
      const target = call.dryRun || entryOf(call) ? undefined : options.handsOver?.(call)
      if (!target || call.failure) return next()
      const { id, args, caller, signal } = call
      const { decision } = (call.notes.approval ?? {}) as { decision?: string }
      const about = { origin: 'worker', caller, signal, pool: target.pool, approved: decision === 'approved' }
      const result = await durable.run({ id, name: target.name, args }, about)
      call.notes.run = result.run_id ?? null
      return { ...result, tool_name: call.name }
    })
    const durable: engine.Durable = {
      ready: async () => this.#tellApprovals(),
      status: () => ({ state: 'ready', text: `memory, ${pool}` }),
      accept: async (call, given = {}) => {
        const { key, caller } = given
        const isBefore = ({ run }: Entry) => key !== undefined && run.key === key && run.caller === caller
        const before = [...this.entries.values()].find(isBefore)
        const print = (each: ToolCall) => fingerprint([each.name, each.args])
        const used = `Idempotency key '${key}' was used for another call`
        if (before && print(before.call) !== print(call))
          return { refused: failed(call, used), isConflict: true }
        if (!before && given.pool === '') return { refused: failed(call, 'no worker') }
        const { run, result } = before ?? this.#begin(call, given, own)
        return { id: run.id, result }
      },
      async run(call, given) {
        const accepted = await durable.accept(call, given)
        if ('refused' in accepted) return accepted.refused
        given?.signal?.addEventListener('abort', () => durable.cancel(accepted.id))
        return accepted.result
      },
      get: async id => this.entries.get(id)?.run,
      callOf: async id => this.entries.get(id),
      list: async ({ state, tool, caller, before, limit = 50 } = {}) => {
        const all = [...this.entries.values()].map(({ run }) => run).reverse()
        const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1
        const wanted = Object.entries({ state, tool, caller }).filter(([, value]) => value !== undefined)
        const fits = (run: engine.Run) => wanted.every(([name, value]) => run[name as 'tool'] === value)
        return all.slice(from).filter(fits).slice(0, limit)
      },
      cancel: async id => {
        const entry = this.entries.get(id)
        if (!entry || entry.run.ended_at) return false
        entry.controller.abort()
        return true
      },
      workers: async () => [],
      publish: tools => {
        if (fingerprint(tools) === fingerprint(own.tools)) return
        own.tools = tools
        this.#tell({ type: 'workers' })
      },
      offers: () =>
        [...this.processes]
          .filter(each => each !== own)
          .flatMap(({ pool, tools, goneSince: gone_since }) =>
            tools.map(tool => ({ pool, tool, workers: gone_since ? 0 : 1, gone_since })),
          ),
      requestApproval: (call, asked) => {
        const entry = entryOf(call)
        if (entry?.approved) return Promise.resolve({ approved: true, reason: '' })
        return entry && this.#wait(entry, asked)
      },
      decide: async (id, decision, { by, reason = 'denied by the user' } = {}) => {
        const waiting = this.#approvals.get(id)
        this.#approvals.delete(id)
        waiting?.settle({ approved: decision === 'approve', reason, by })
        this.#tellApprovals()
        return waiting !== undefined
      },
      close: async () => {
        remove()
        own.goneSince = now()
        this.#tell({ type: 'workers' })
      },
    }
    return durable
  }

  #begin(call: ToolCall, options: engine.DurableRunOptions, own: Process): Entry {
    const { caller, origin, key, pool = own.pool } = options
    const run: engine.Run = {
      ...{ id: randomUUID(), tool: call.name, args: call.args, pool, caller, origin, key },
      ...{ state: 'waiting', attempts: 0, created_at: now(), steps: [] },
    }
    const controller = new AbortController()
    const entry: Entry = { run, call, options, controller, result: Promise.resolve(failed(call, '')) }
    this.entries.set(run.id, entry)
    this.#tell({ type: 'run', run })
    entry.result = this.#execute(entry, own)
    return entry
  }

  async #execute(entry: Entry, own: Process): Promise<ToolResult> {
    const { call, options, controller, run } = entry
    const { signal } = controller
    const isAble = ({ pool, goneSince, options: { role } }: Process) =>
      pool === run.pool && !goneSince && role !== 'gateway'
    const able = [own, ...this.processes].filter(isAble)
    const worker = able.find(({ tools }) => tools.some(({ name }) => name === call.name)) ?? able[0]
    await Promise.resolve()
    const gone = [...this.processes].find(({ pool }) => pool === run.pool)?.goneSince
    if (!worker) return failed(call, `no worker of pool '${run.pool}' runs it, since ${gone}`)
    this.#change(entry, { state: 'running', attempts: 1, worker: worker.options.workerId })
    const { approval, ...given } = options
    const verdict = approval && (await this.#ask(entry))
    entry.approved = verdict?.approved || options.approved === true
    const execute = () => worker.options.executor.run(call, Object.assign({ ...given, signal }, { entry }))
    const denial = failed(call, `Tool '${call.name}' was denied: ${verdict?.reason}`, 'denied')
    const lost = this.isLosing ? failed(call, 'its worker was lost') : undefined
    const result = verdict?.approved === false ? denial : (lost ?? (await execute()))
    const state = result.success ? 'done' : signal.aborted ? 'cancelled' : 'failed'
    const ended = { ...result, run_id: run.id }
    this.#change(entry, { state, ended_at: now(), result: ended })
    return ended
  }

  #ask(entry: Entry): Promise<Verdict> {
    const { call, options } = entry
    const { timeoutMs = 1e6, ...asks } = options.approval ?? {}
    const asked = { id: randomUUID(), tool: call.name, args: call.args, origin: options.origin, ...asks }
    const askedAt = Date.now()
    return this.#wait(entry, { ...asked, askedAt, expiresAt: askedAt + timeoutMs, state: 'waiting' })
  }

  #wait(entry: Entry, asked: Approval): Promise<Verdict> {
    this.#change(entry, { state: 'approval' })
    return new Promise(settle => {
      this.#approvals.set(asked.id, { asked, settle })
      this.#tellApprovals()
    })
  }

  #change(entry: Entry, change: Partial<engine.Run>): void {
    entry.run = { ...entry.run, ...change }
    this.#tell({ type: 'run', run: entry.run })
  }
}

function failed({ name }: ToolCall, error: string, code: FailureCode = 'unavailable'): ToolResult {
  return { success: false, code, error, tool_name: name, execution_time_ms: 0 }
}
