import { ToolExecutor, ToolManager } from 'toolpost'
import type { OfferedTool, Run } from 'toolpost/project'
import { expect, it, vi } from 'vitest'
import { createDurable } from '../src/index.ts'
import { asks, durableUnderTest, soon } from './durable-under-test.ts'

const { start, startWorker, noted, accepted, query, postgres } = durableUnderTest()

it('runs a call like the executor, and keeps what became of it, without secrets', async () => {
  const { durable, executed } = await start()
  const call = { id: 'call-1', name: 'note', args: { id: 'a', password: 'hunter2' } }
  const result = await durable.run(call, { origin: 'http', caller: 'anna' })
  expect(result).toMatchObject({ success: true, result: { id: 'a' }, tool_call_id: 'call-1' })
  const run = (await durable.get(result.run_id ?? '')) as Run
  expect(run).toMatchObject({ tool: 'note', state: 'done', attempts: 1, origin: 'http', caller: 'anna' })
  expect(run.result).toMatchObject({ success: true, result: { id: 'a' }, run_id: run.id })
  expect(JSON.stringify(run)).not.toContain('hunter2')
  expect(run.steps.map(({ name }) => name)).toEqual(['accepted', 'started', 'intent', 'ended'])
  expect((await durable.callOf(run.id))?.call.args).toEqual({ id: 'a', password: 'hunter2' })
  expect((await durable.list({ caller: 'anna', state: 'done' })).map(({ id }) => id)).toEqual([run.id])
  expect(executed).toEqual(['a'])
  expect(await durable.run({ name: 'missing' })).toMatchObject({ code: 'unavailable' })
})

it('treats the same key and call from one caller as the same run, and refuses another call', async () => {
  const { durable, executed } = await start()
  const call = { name: 'note', args: { id: 'k', more: { x: 1, y: 2 } } }
  const reordered = { name: 'note', args: { more: { y: 2, x: 1 }, id: 'k' } }
  const options = { key: 'key-1', caller: 'anna' }
  const results = await Promise.all([call, call, reordered].map(each => durable.run(each, options)))
  expect(new Set(results.map(({ run_id }) => run_id)).size).toBe(1)
  expect(results.every(({ success }) => success)).toBe(true)
  expect(executed).toEqual(['k'])
  const other = await durable.accept({ name: 'note', args: { id: 'other' } }, options)
  expect(other).toMatchObject({
    isConflict: true,
    refused: { code: 'invalid_arguments', error: "Idempotency key 'key-1' was used for another call" },
  })
  await durable.run({ name: 'note', args: { id: 'bob' } }, { ...options, caller: 'bob' })
  expect(executed).toEqual(['k', 'bob'])
})

it('[F60] repeats a read elsewhere when its worker is killed, and never a write', {
  timeout: 90_000,
}, async () => {
  const [{ durable }, first] = await Promise.all([start({ role: 'gateway' }), startWorker('one')])
  await query("UPDATE toolpost.meta SET orphan_timeout = '1 s'")
  const onWorkers = () => durable.offers().filter(({ pool, workers }) => pool === 'elsewhere' && workers > 0)
  await soon(() =>
    expect(new Set(onWorkers().map(({ tool }) => tool.name))).toEqual(new Set(['look', 'put'])),
  )
  const elsewhere = { pool: 'elsewhere' }
  const progress = vi.fn()
  const held = (name: string, id: string, by: string) => ({ name, args: { id, hold: [by] } })
  const read = await accepted(durable, held('look', 'r1', 'one'), { ...elsewhere, onProgress: progress })
  const write = await accepted(durable, held('put', 'w1', 'one'), elsewhere)
  await soon(() => expect(noted('put w1')).toHaveLength(1))
  await soon(() => expect(noted('look r1')).toHaveLength(1))
  await soon(() => expect(progress).toHaveBeenCalledWith(expect.objectContaining({ message: 'half' })))
  expect(await durable.get(write.id)).toMatchObject({ state: 'running', worker: 'one' })
  const second = await startWorker('two')
  await soon(() => expect(onWorkers()[0]?.workers).toBe(2))
  first.kill('SIGKILL')
  expect(await read.result).toMatchObject({ success: true, result: { by: 'two' } })
  const unknown = "worker 'one' was lost while running the call; the outcome of the call is unknown"
  const error = `The put service is unavailable: ${unknown}`
  expect(await write.result).toMatchObject({ code: 'unavailable', error })
  expect(noted('put w1')).toHaveLength(1)
  expect(await durable.get(read.id)).toMatchObject({ state: 'done', attempts: 2, worker: 'two' })

  // Cancelling reaches the tool.
  const stopped = await accepted(durable, held('put', 'c1', 'two'), elsewhere)
  await soon(() => expect(noted('put c1')).toHaveLength(1))
  expect(await durable.cancel(stopped.id)).toBe(true)
  await soon(() => expect(noted('aborted c1')).toHaveLength(1))
  expect(await stopped.result).toMatchObject({ success: false, code: 'cancelled', run_id: stopped.id })
  expect(await durable.cancel(stopped.id)).toBe(false)

  // The last worker is gone, and leaves a run that nobody else can execute.
  const orphaned = await accepted(durable, held('look', 'r2', 'two'), elsewhere)
  await soon(() => expect(noted('look r2')).toHaveLength(1))
  second.kill('SIGKILL')
  await soon(() => expect(onWorkers()).toEqual([]))
  const isIt = (offer: OfferedTool) => offer.pool === 'elsewhere' && offer.tool.name === 'put'
  const gone = durable.offers().find(isIt)?.gone_since
  expect(await durable.run({ name: 'put', args: { id: 'late' } }, elsewhere)).toMatchObject({
    code: 'unavailable',
    error: `The put service is unavailable: no worker of pool 'elsewhere' runs it, since ${gone}`,
  })
  expect(await orphaned.result).toMatchObject({
    error: expect.stringContaining("no worker of pool 'elsewhere' runs it, since"),
    run_id: orphaned.id,
  })
  const workers = (await durable.workers()).filter(({ pool }) => pool === 'elsewhere')
  expect(workers.map(({ id, state }) => `${id} ${state}`)).toEqual(['one gone', 'two gone'])
})

it('keeps the limits of a server, through its queue, and stops polling when nothing waits', async () => {
  const limits = { local: { concurrency: 1, perMinute: 3 } }
  const { durable, underWay, executed } = await start({ pool: 'slow', limits })
  for (const number of [1, 2, 3, 4, 5]) await accepted(durable, { name: 'note', args: { id: `p${number}` } })
  await soon(() => expect(executed).toHaveLength(3))
  expect(underWay.most).toBe(1)
  const waiting = await durable.list({ tool: 'note', state: 'waiting' })
  expect(waiting).toHaveLength(2)
  for (const { id } of waiting) await durable.cancel(id)
  const polled = "SELECT FROM toolpost_engine.queues WHERE name = 'slow/local'"
  await soon(async () => expect((await query(polled)).rowCount).toBe(0))
})

it('[F60] waits for an approval across a restart, and runs once', { timeout: 60_000 }, async () => {
  const first = await start({ interceptor: asks })
  const run = await accepted(first.durable, { id: 'x', name: 'note', args: { id: 'asked' } })
  await soon(async () => expect(await first.durable.get(run.id)).toMatchObject({ state: 'approval' }))
  await first.durable.close({ drainMs: 0 })

  const second = await start({ interceptor: asks })
  await soon(async () => expect(await second.durable.get(run.id)).toMatchObject({ state: 'approval' }))
  expect(second.executed).toEqual([])
  expect(await second.durable.decide('about-x', 'approve', { by: 'console' })).toBe(true)
  expect(await second.durable.decide('about-x', 'deny')).toBe(false)
  await soon(async () => expect(await second.durable.get(run.id)).toMatchObject({ state: 'done' }))
  // It is not asked about again if it was approved on its way here.
  const call = { id: 'y', name: 'note', args: { id: 'once' } }
  expect(await second.durable.run(call, { approved: true })).toMatchObject({ success: true })
  expect([...first.executed, ...second.executed]).toEqual(['asked', 'once'])
  const approvals = [expect.objectContaining({ tool: 'note' })]
  expect(second.changes).toContainEqual({ type: 'approvals', approvals })
})

it('asks before a run starts if requested, and says who denied it', async () => {
  const { durable, executed, changes } = await start()
  const approval = { because: 'it is a write', server: 'notes', definition: 'd1' }
  const run = await accepted(durable, { name: 'note', args: { id: 'never' } }, { approval })
  await accepted(durable, { name: 'note', args: { id: 'in time' } }, { approval: { timeoutMs: 300 } })
  const approvals = () => changes.flatMap(change => (change.type === 'approvals' ? change.approvals : []))
  await soon(() => expect(approvals()).not.toEqual([]))
  const waiting = approvals()
  expect(waiting[0]).toMatchObject({ tool: 'note', args: { id: 'never' }, ...approval })
  await durable.decide(waiting[0]?.id ?? '', 'deny', { by: 'anna' })
  expect(await run.result).toMatchObject({ code: 'denied', error: "Tool 'note' was denied: denied by anna" })
  await soon(async () => {
    const [expired] = await durable.list({ tool: 'note', state: 'failed', limit: 1 })
    expect(expired?.result).toHaveProperty('error', "Tool 'note' was denied: nobody answered in time")
  })
  expect(executed).toEqual([])
})

it('[F60] fails at once while PostgreSQL is gone, goes on by itself, and loses nothing', {
  timeout: 60_000,
}, async () => {
  const { durable, executed } = await start()
  const under = await accepted(durable, { name: 'note', args: { id: 'under way' } })
  await soon(() => expect(executed).toEqual(['under way']))
  await postgres().kill()
  await soon(() => expect(durable.status().state).toBe('lost'))
  expect(await durable.run({ name: 'note', args: { id: 'refused' } })).toMatchObject({
    code: 'unavailable',
    error: expect.stringMatching(
      /^The note service is unavailable: PostgreSQL at .* unreachable .* reconnecting/,
    ),
  })
  await postgres().start()
  expect(await under.result).toMatchObject({ success: true, result: { id: 'under way' } })
  await soon(() => expect(durable.status().state).toBe('ready'))
  expect(await durable.run({ name: 'note', args: { id: 'after' } })).toMatchObject({ success: true })
  expect(executed).toEqual(['under way', 'after'])
})

it.each([
  [{ port: '1' }, /127\.0\.0\.1:1\/postgres refuses connections; is .* there\?; retrying/],
  [{ password: 'wrong' }, /rejects the password; check user and password/],
  [{ pathname: '/nowhere' }, /has no such database; create it/],
])('says what is wrong with a database: %j', async (wrong, expected) => {
  const databaseUrl = Object.assign(new URL(postgres().url()), wrong).href
  const { durable } = await start({ databaseUrl })
  expect(durable.status()).toEqual({ state: 'failed', text: expect.stringMatching(expected) })
  expect(durable.status().text).not.toContain('proof')
  expect(await durable.run({ name: 'seek' }, { timeoutMs: 50 })).toMatchObject({ code: 'unavailable' })
})

it('says that the disk is full, and goes on once there is space', async () => {
  const { durable } = await start()
  await query('CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$')
  const full = (table: string) =>
    query(`CREATE TRIGGER full_disk BEFORE INSERT ON ${table} EXECUTE FUNCTION fill()`)
  await full('toolpost.runs')
  const error = expect.stringContaining('has no space left on its disk')
  expect(await durable.run({ name: 'seek' })).toMatchObject({ code: 'unavailable', error })
  await query('DROP TRIGGER full_disk ON toolpost.runs')
  await full('toolpost_engine.workflow_status')
  expect(await durable.run({ name: 'seek', args: { id: 'c' } })).toMatchObject({ success: true })
  await query('DROP FUNCTION fill CASCADE')
  expect(await durable.run({ name: 'seek', args: { id: 'd' } })).toMatchObject({ success: true })
})

it('leaves a database of another release alone, and a second one in this process out', async () => {
  const { durable } = await start()
  const executor = new ToolExecutor(new ToolManager())
  const second = createDurable({ executor, databaseUrl: postgres().url() })
  await second.ready()
  expect(second.status().text).toContain('in use in this process')
  await second.close()
  expect(await durable.run({ name: 'seek', args: { id: 's' } })).toMatchObject({ success: true })
  await durable.close()
  const texts = [
    /belongs to a newer Toolpost .*version is 99.*Upgrade Toolpost here/,
    /an older Toolpost .*drop/,
  ]
  for (const [index, version] of [99, 1].entries()) {
    await query(`UPDATE toolpost.meta SET version = ${version}`)
    const other = await start()
    const text = expect.stringMatching(texts[index] ?? '')
    expect(other.durable.status()).toEqual({ state: 'failed', text })
    await other.durable.close()
  }
  await query('UPDATE toolpost.meta SET version = 4')
})
