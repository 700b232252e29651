import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ToolCall } from '../src/call/tool-call.ts'
import type { ToolResult } from '../src/call/tool-result.ts'
import type { CallContext } from '../src/executor/context.ts'
import type { Verdict } from '../src/interceptors/approval.ts'
import { fingerprint } from '../src/interceptors/canonical.ts'
import type { Approval } from '../src/interceptors/index.ts'
import type {
  Durable,
  DurableChange,
  DurableOptions,
  DurableRunOptions,
  PublishedTool,
  Run,
} from '../src/project/durable.ts'

interface Entry {
  run: Run
  call: ToolCall
  options: DurableRunOptions
  result: Promise<ToolResult>
  controller: AbortController
  /** A person has approved it. */
  approved?: boolean
}

interface Process {
  options: DurableOptions
  pool: string
  tools: readonly PublishedTool[]
  goneSince?: string
  tell(change: DurableChange): void
}

/** What the engine keeps in PostgreSQL, in memory: for what is around the engine. Processes share one by its maker. */
export class MemoryDatabase {
  readonly entries = new Map<string, Entry>()
  readonly processes = new Set<Process>()
  readonly approvals = new Map<string, { asked: Approval; settle(verdict: Verdict): void }>()
  readonly runs = new WeakMap<AbortSignal, Entry>()
  /** While it is set, the database is gone. */
  problem: string | undefined
  /** While it is set, the worker of every run is lost. */
  isLosing = false

  tell(change: DurableChange): void {
    for (const each of this.processes) each.tell(change)
  }

  tellApprovals(): void {
    this.tell({ type: 'approvals', approvals: [...this.approvals.values()].map(({ asked }) => asked) })
  }

  /** An engine on this database. */
  create = (options: DurableOptions): Durable => {
    const listeners = new Set<(change: DurableChange) => void>()
    const own: Process = {
      options,
      pool: options.pool ?? 'default',
      tools: [],
      tell: change => listeners.forEach(listener => void listener(change)),
    }
    this.processes.add(own)
    const accept: Durable['accept'] = async (call, given = {}) => {
      if (this.problem) return { refused: failed(call, `database: ${this.problem}`) }
      const { key, caller } = given
      const before = [...this.entries.values()].find(
        ({ run }) => key !== undefined && run.key === key && run.caller === caller,
      )
      if (before && fingerprint([before.call.name, before.call.args]) !== fingerprint([call.name, call.args]))
        return {
          refused: failed(call, `Idempotency key '${key}' was used for another call`),
          isConflict: true,
        }
      if (!before && Array.isArray(given.pool) && given.pool.length === 0)
        return { refused: failed(call, 'no worker') }
      const { run, result } = before ?? this.#begin(call, given, own)
      return { id: run.id, result }
    }
    return {
      ready: async () => this.tellApprovals(),
      status: () =>
        this.problem
          ? { state: 'failed', text: this.problem }
          : { state: 'ready', text: `memory, ${own.pool}` },
      accept,
      async run(call, given) {
        const accepted = await accept(call, given)
        if ('refused' in accepted) return accepted.refused
        const cancel = () => this.cancel(accepted.id)
        given?.signal?.addEventListener('abort', cancel)
        return accepted.result
      },
      get: async id => this.entries.get(id)?.run,
      callOf: async id => this.entries.get(id),
      isRun: ({ options: { signal } }) => signal !== undefined && this.runs.has(signal),
      list: async ({ state, tool, caller, before, limit = 50 } = {}) => {
        const all = [...this.entries.values()].map(({ run }) => run).reverse()
        const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1
        return all
          .slice(from)
          .filter(run => (!state || run.state === state) && (!tool || run.tool === tool))
          .filter(run => !caller || run.caller === caller)
          .slice(0, limit)
      },
      cancel: async id => {
        const entry = this.entries.get(id)
        if (!entry || entry.run.ended_at) return false
        entry.controller.abort()
        return true
      },
      workers: async () =>
        [...this.processes].map(({ options: { role = 'worker', workerId = '?' }, pool, tools }) => ({
          id: workerId,
          pool,
          role,
          host: hostname(),
          pid: 1,
          state: 'live',
          seen_at: new Date().toISOString(),
          started_at: new Date().toISOString(),
          tools: tools.map(({ name }) => name),
          running: 0,
        })),
      publish: tools => {
        if (fingerprint(tools) === fingerprint(own.tools)) return
        own.tools = tools
        this.tell({ type: 'workers' })
      },
      offers: () => {
        const others = [...this.processes].filter(each => each !== own)
        return others.flatMap(({ pool, tools, goneSince }) =>
          tools.map(tool => ({
            pool,
            tool,
            workers: goneSince ? 0 : 1,
            ...(goneSince && { gone_since: goneSince }),
          })),
        )
      },
      requestApproval: (call, asked) => this.#request(call, asked),
      decide: async (id, decision, { by, reason = 'denied by the user' } = {}) => {
        const waiting = this.approvals.get(id)
        this.approvals.delete(id)
        waiting?.settle({ approved: decision === 'approve', reason, by })
        this.tellApprovals()
        return waiting !== undefined
      },
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      close: async () => {
        own.goneSince = new Date().toISOString()
        listeners.clear()
        this.tell({ type: 'workers' })
      },
    }
  }

  #begin(call: ToolCall, options: DurableRunOptions, own: Process): Entry {
    const { caller, origin, key } = options
    const [pool = own.pool] = [options.pool ?? own.pool].flat()
    const now = new Date().toISOString()
    const run: Run = {
      id: randomUUID(),
      tool: call.name,
      args: call.args,
      state: 'waiting',
      attempts: 0,
      created_at: now,
      pool,
      caller,
      origin,
      key,
      steps: [],
    }
    const controller = new AbortController()
    const entry: Entry = { run, call, options, controller, result: Promise.resolve(failed(call, '')) }
    this.entries.set(run.id, entry)
    this.tell({ type: 'run', run })
    entry.result = this.#execute(entry, own)
    return entry
  }

  async #execute(entry: Entry, own: Process): Promise<ToolResult> {
    const { call, options, controller } = entry
    const fits = (each: Process) =>
      each.pool === entry.run.pool && !each.goneSince && each.options.role !== 'gateway'
    const able = [own, ...this.processes].filter(fits)
    const worker = able.find(({ tools }) => tools.some(({ name }) => name === call.name)) ?? able[0]
    await Promise.resolve()
    if (!worker) {
      const gone = [...this.processes].find(each => each.pool === entry.run.pool)?.goneSince
      return failed(call, `no worker of pool '${entry.run.pool}' runs it, since ${gone}`)
    }
    this.runs.set(controller.signal, entry)
    this.#change(entry, { state: 'running', attempts: 1, worker: worker.options.workerId })
    const { key: _, pool: __, approval, ...given } = options
    const asked = approval && (await this.#ask(entry))
    entry.approved = asked?.approved || options.approved === true
    const result =
      asked && !asked.approved
        ? ({ ...failed(call, `Tool '${call.name}' was denied: ${asked.reason}`), code: 'denied' } as const)
        : this.isLosing
          ? failed(call, 'its worker was lost')
          : await worker.options.executor.run(call, { ...given, signal: controller.signal })
    const state = result.success ? 'done' : controller.signal.aborted ? 'cancelled' : 'failed'
    const ended = { ...result, run_id: entry.run.id }
    this.#change(entry, { state, ended_at: new Date().toISOString(), result: ended })
    return ended
  }

  #ask(entry: Entry): Promise<Verdict> {
    const { call, options } = entry
    const { timeoutMs = 1e6, ...asks } = options.approval ?? {}
    const asked = { id: randomUUID(), tool: call.name, args: call.args, origin: options.origin, ...asks }
    const askedAt = Date.now()
    return this.#wait(entry, { ...asked, askedAt, expiresAt: askedAt + timeoutMs, state: 'waiting' })
  }

  #request({ options: { signal } }: CallContext, asked: Approval): Promise<Verdict> | undefined {
    const entry = signal && this.runs.get(signal)
    if (entry?.approved) return Promise.resolve({ approved: true, reason: '' })
    return entry && this.#wait(entry, asked)
  }

  #wait(entry: Entry, asked: Approval): Promise<Verdict> {
    this.#change(entry, { state: 'approval' })
    return new Promise(resolve => {
      this.approvals.set(asked.id, { asked, settle: resolve })
      this.tellApprovals()
    })
  }

  #change(entry: Entry, change: Partial<Run>): void {
    entry.run = { ...entry.run, ...change }
    this.tell({ type: 'run', run: entry.run })
  }
}

function failed({ name }: ToolCall, error: string): ToolResult {
  return { success: false, code: 'unavailable', error, tool_name: name, execution_time_ms: 0 }
}
