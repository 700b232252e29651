import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { defineTool, type Interceptor, ToolExecutor, ToolManager } from 'toolpost'
import { denied } from 'toolpost/interceptors'
import type { Durable, DurableChange, DurableOptions, PublishedTool } from 'toolpost/project'
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { TestPostgres } from '../../../scripts/proof/postgres.mjs'
import { createDurable } from '../src/index.ts'

export const soon = <T>(check: () => T) => vi.waitFor(check, { timeout: 30_000, interval: 20 })
const schema = { type: 'object', properties: { id: { type: 'string' } } } as const

interface Here extends Partial<DurableOptions> {
  interceptor?: (durable: () => Durable) => Interceptor
}

/** One PostgreSQL for all tests of a file, with this process as a worker and others beside it that can be killed. */
export function durableUnderTest() {
  let postgres: TestPostgres
  let folder: string
  let ledger: string
  let open: Durable | undefined
  const workers: ChildProcess[] = []

  beforeAll(async () => {
    postgres = await TestPostgres.start({ isQuick: true })
    folder = mkdtempSync(join(tmpdir(), 'toolpost-durable-'))
    ledger = join(folder, 'ledger')
    writeFileSync(ledger, '')
  }, 60_000)

  afterEach(async () => {
    await open?.close({ drainMs: 0 })
    open = undefined
    for (const worker of workers.splice(0)) worker.kill('SIGKILL')
  })

  afterAll(async () => {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** This process as a worker of the pool `here`, with tools that count their executions. */
  async function start({ interceptor, ...options }: Here = {}, isAwaited = true) {
    const { tools, executed, underWay } = countingTools(id => appendFileSync(ledger, `put ${id} here\n`))
    const executor = new ToolExecutor(tools)
    const changes: DurableChange[] = []
    // As the history does in a project.
    executor.observe(() => {})
    if (interceptor) executor.use(interceptor(() => durable))
    const onChange = (change: DurableChange) => changes.push(change)
    const about = { executor, databaseUrl: postgres.url(), pool: 'here', onChange }
    const durable: Durable = createDurable({ ...about, ...options })
    open = durable
    durable.publish(tools.getTools().map(published))
    if (isAwaited) await durable.ready()
    return { durable, executed, underWay, changes, tools }
  }

  /** A worker of the pool `elsewhere` in a separate process. */
  async function startWorker(id: string): Promise<ChildProcess> {
    const script = fileURLToPath(new URL('worker-process.mjs', import.meta.url))
    const args = [script, postgres.url(), 'elsewhere', id, ledger]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    workers.push(child)
    const state = await new Promise(resolve => createInterface({ input: child.stdout }).once('line', resolve))
    expect(state).toBe('ready')
    return child
  }

  /** The lines noted by the tools that begin with `text`. */
  function noted(text: string): string[] {
    const lines = readFileSync(ledger, 'utf8').split('\n')
    return lines.filter(line => line.startsWith(`${text} `))
  }

  async function query(text: string): Promise<pg.QueryResult> {
    const client = new pg.Client(postgres.url())
    client.on('error', () => {})
    await client.connect()
    return client.query(text).finally(() => client.end())
  }

  return { start, startWorker, noted, accepted, query, postgres: () => postgres }
}

function countingTools(put: (id: string) => void) {
  const executed: string[] = []
  const underWay = { now: 0, most: 0 }
  const handler = async ({ id = '' }: { id?: string }) => {
    executed.push(id)
    underWay.most = Math.max(underWay.most, ++underWay.now)
    await new Promise(resolve => setTimeout(resolve, 30))
    underWay.now--
    return { id }
  }
  let failures = 0
  const fail = () => Promise.reject(new Error(`attempt ${++failures}`))
  const tools = new ToolManager()
  const add = (name: string, handler: (args: { id?: string }) => unknown, readOnly?: boolean) =>
    tools.addCustomTool(defineTool({ name, description: name, schema, readOnly, handler }))
  add('note', handler)
  add('seek', handler, true)
  add('fail', fail)
  add('put', ({ id = '' }) => put(id))
  return { tools, executed, underWay }
}

function published({ name, description = '', readOnly }: ReturnType<ToolManager['getTools']>[number]) {
  return { name, description, schema, readOnly, fingerprint: name } satisfies PublishedTool
}

async function accepted(durable: Durable, ...call: Parameters<Durable['accept']>) {
  const answer = await durable.accept(...call)
  if ('refused' in answer) throw new Error(JSON.stringify(answer.refused))
  return answer
}

/** What a project's policy does: every call of `note` needs approval. */
export const asks = (durable: () => Durable): Interceptor => {
  return async (call, next) => {
    const askedAt = Date.now()
    const about = { id: `about-${call.id}`, tool: call.name, args: call.args, state: 'waiting' } as const
    const approval = { ...about, askedAt, expiresAt: askedAt + 3 * 24 * 3_600_000 }
    const verdict = call.name === 'note' ? await durable().requestApproval(call, approval) : undefined
    return !verdict || verdict.approved ? next() : denied(call, verdict.reason)
  }
}
