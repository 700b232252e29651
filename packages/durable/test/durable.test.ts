import pg from 'pg'
import { ToolExecutor, ToolManager } from 'toolpost'
import type { Run } from 'toolpost/project'
import { expect, it, vi } from 'vitest'
import { createDurable } from '../src/index.ts'
import { asks, durableUnderTest, WAIT } from './durable-under-test.ts'

const { start, startWorker, noted, accepted, query, postgres } = durableUnderTest()

it('runs a call like the executor, and keeps what became of it, without secrets', async () => {
  const { durable, executed } = await start()
  const result = await durable.run(
    { id: 'call-1', name: 'note', args: { id: 'a', password: 'hunter2' } },
    { origin: 'http', caller: 'anna' },
  )
  expect(result).toMatchObject({ success: true, result: { id: 'a' }, tool_call_id: 'call-1' })
  const run = (await durable.get(result.run_id ?? '')) as Run
  expect(run).toMatchObject({
    tool: 'note',
    state: 'done',
    attempts: 1,
    origin: 'http',
    caller: 'anna',
    pool: 'here',
  })
  expect(run.result).toMatchObject({ success: true, result: { id: 'a' }, run_id: run.id })
  expect(JSON.stringify(run)).not.toContain('hunter2')
  expect(run.steps.map(({ name }) => name)).toEqual(['accepted', 'started', 'intent', 'ended'])
  expect((await durable.callOf(run.id))?.call.args).toEqual({ id: 'a', password: 'hunter2' })
  expect((await durable.list({ caller: 'anna', state: 'done' })).map(({ id }) => id)).toEqual([run.id])
  expect(await durable.list({ caller: 'anna', state: 'failed' })).toEqual([])
  expect(executed).toEqual(['a'])
  expect(await durable.run({ name: 'missing' })).toMatchObject({ code: 'unavailable' })
})

it('treats the same key and call from one caller as the same run, and refuses another call', async () => {
  const { durable, executed } = await start()
  const call = { name: 'note', args: { id: 'k', more: { x: 1, y: 2 } } }
  const reordered = { name: 'note', args: { more: { y: 2, x: 1 }, id: 'k' } }
  const options = { key: 'key-1', caller: 'anna' }
  const results = await Promise.all([
    ...[1, 2, 3].map(() => durable.run(call, options)),
    durable.run(reordered, options),
  ])
  expect(new Set(results.map(({ run_id }) => run_id)).size).toBe(1)
  expect(results.every(({ success }) => success)).toBe(true)
  expect(executed).toEqual(['k'])
  const other = await durable.accept({ name: 'note', args: { id: 'other' } }, options)
  expect(other).toMatchObject({
    isConflict: true,
    refused: { code: 'invalid_arguments', error: "Idempotency key 'key-1' was used for another call" },
  })
  const ofBob = await durable.run({ name: 'note', args: { id: 'bob' } }, { ...options, caller: 'bob' })
  expect(ofBob).toMatchObject({ success: true })
  expect(executed).toEqual(['k', 'bob'])
})

it('[F60] repeats a read elsewhere when its worker is killed, and never a write', {
  timeout: 90_000,
}, async () => {
  const [{ durable }, first] = await Promise.all([start({ role: 'gateway' }), startWorker('one')])
  await query("UPDATE toolpost.meta SET orphan_timeout = '1 s'")
  const onWorkers = () => durable.offers().filter(({ pool, workers }) => pool === 'elsewhere' && workers > 0)
  await vi.waitFor(
    () =>
      expect(
        onWorkers()
          .map(({ tool }) => tool.name)
          .sort(),
      ).toEqual(['look', 'put']),
    WAIT,
  )
  const elsewhere = { pool: 'elsewhere' }
  const progress = vi.fn()
  const read = await accepted(
    durable,
    { name: 'look', args: { id: 'r1', hold: ['one'] } },
    { ...elsewhere, onProgress: progress },
  )
  const write = await accepted(durable, { name: 'put', args: { id: 'w1', hold: ['one'] } }, elsewhere)
  await vi.waitFor(() => expect(noted('put w1')).toHaveLength(1), WAIT)
  await vi.waitFor(() => expect(noted('look r1')).toHaveLength(1), WAIT)
  await vi.waitFor(
    () => expect(progress).toHaveBeenCalledWith(expect.objectContaining({ message: 'half' })),
    WAIT,
  )
  expect(await durable.get(write.id)).toMatchObject({ state: 'running', worker: 'one' })
  const second = await startWorker('two')
  await vi.waitFor(() => expect(onWorkers()[0]?.workers).toBe(2), WAIT)
  first.kill('SIGKILL')
  expect(await read.result).toMatchObject({ success: true, result: { by: 'two' } })
  const unknown = await write.result
  expect(unknown).toMatchObject({ success: false, code: 'unavailable' })
  expect(unknown).toHaveProperty(
    'error',
    expect.stringContaining("worker 'one' was lost while running the call"),
  )
  expect(unknown).toHaveProperty('error', expect.stringContaining('the outcome of the call is unknown'))
  expect(noted('put w1')).toHaveLength(1)
  expect(await durable.get(read.id)).toMatchObject({ state: 'done', attempts: 2, worker: 'two' })

  // Cancelling reaches the tool.
  const held = await accepted(durable, { name: 'put', args: { id: 'c1', hold: ['two'] } }, elsewhere)
  await vi.waitFor(() => expect(noted('put c1')).toHaveLength(1), WAIT)
  expect(await durable.cancel(held.id)).toBe(true)
  await vi.waitFor(() => expect(noted('aborted c1')).toHaveLength(1), WAIT)
  expect(await held.result).toMatchObject({ success: false, code: 'cancelled', run_id: held.id })
  expect(await durable.get(held.id)).toMatchObject({ state: 'cancelled' })
  expect(await durable.cancel(held.id)).toBe(false)

  // The last worker is gone, and leaves a run that nobody else can execute.
  const orphaned = await accepted(durable, { name: 'look', args: { id: 'r2', hold: ['two'] } }, elsewhere)
  await vi.waitFor(() => expect(noted('look r2')).toHaveLength(1), WAIT)
  second.kill('SIGKILL')
  await vi.waitFor(() => expect(onWorkers()).toEqual([]), WAIT)
  const gone = durable
    .offers()
    .find(({ pool, tool }) => pool === 'elsewhere' && tool.name === 'put')?.gone_since
  expect(await durable.run({ name: 'put', args: { id: 'late' } }, elsewhere)).toMatchObject({
    code: 'unavailable',
    error: `The put service is unavailable: no worker of pool 'elsewhere' runs it, since ${gone}`,
  })
  expect(await orphaned.result).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining(
      "look service is unavailable: no worker of pool 'elsewhere' runs it, since",
    ),
    run_id: orphaned.id,
  })
  expect((await durable.workers()).filter(({ pool }) => pool === 'elsewhere')).toMatchObject([
    { id: 'one', state: 'gone' },
    { id: 'two', state: 'gone' },
  ])
})

it('enforces the limits of a server across all calls, through its queue', async () => {
  const { durable, underWay, executed } = await start({ limits: { local: { concurrency: 1 } } })
  const results = await Promise.all(
    [1, 2, 3, 4].map(number => durable.run({ name: 'note', args: { id: `l${number}` } })),
  )
  expect(results.map(({ success }) => success)).toEqual([true, true, true, true])
  expect(executed).toHaveLength(4)
  expect(underWay.most).toBe(1)
})

it('[F60] waits for an approval across a restart, and runs once', { timeout: 60_000 }, async () => {
  const first = await start({ interceptor: asks })
  const run = await accepted(first.durable, { id: 'x', name: 'note', args: { id: 'asked' } })
  await vi.waitFor(
    async () => expect(await first.durable.get(run.id)).toMatchObject({ state: 'approval' }),
    WAIT,
  )
  await first.durable.close({ drainMs: 0 })

  const second = await start({ interceptor: asks })
  await vi.waitFor(
    async () => expect(await second.durable.get(run.id)).toMatchObject({ state: 'approval' }),
    WAIT,
  )
  expect(second.executed).toEqual([])
  expect(await second.durable.decide('about-x', 'approve', { by: 'console' })).toBe(true)
  expect(await second.durable.decide('about-x', 'deny')).toBe(false)
  await vi.waitFor(
    async () => expect(await second.durable.get(run.id)).toMatchObject({ state: 'done' }),
    WAIT,
  )
  expect([...first.executed, ...second.executed]).toEqual(['asked'])
  expect(second.changes).toContainEqual({
    type: 'approvals',
    approvals: [expect.objectContaining({ tool: 'note' })],
  })
})

it('asks before a run starts if requested, and says who denied it', async () => {
  const { durable, executed, changes } = await start()
  const run = await accepted(
    durable,
    { name: 'note', args: { id: 'never' } },
    { approval: { because: 'it is a write', server: 'notes', definition: 'd1', scopes: ['tool', 'server'] } },
  )
  expect(await durable.get(run.id)).toMatchObject({ state: 'approval', attempts: 0 })
  await accepted(durable, { name: 'note', args: { id: 'in time' } }, { approval: { timeoutMs: 300 } })
  const approvals = () => changes.flatMap(change => (change.type === 'approvals' ? change.approvals : []))
  await vi.waitFor(() => expect(approvals()).not.toEqual([]), WAIT)
  const waiting = approvals()
  expect(waiting[0]).toMatchObject({ tool: 'note', args: { id: 'never' }, because: 'it is a write' })
  expect(waiting[0]).toMatchObject({ server: 'notes', definition: 'd1', scopes: ['tool', 'server'] })
  await durable.decide(waiting[0]?.id ?? '', 'deny', { by: 'anna' })
  expect(await run.result).toMatchObject({ code: 'denied', error: "Tool 'note' was denied: denied by anna" })
  await vi.waitFor(async () => {
    const [expired] = await durable.list({ tool: 'note', state: 'failed', limit: 1 })
    expect(expired?.result).toHaveProperty('error', "Tool 'note' was denied: nobody answered in time")
  }, WAIT)
  expect(executed).toEqual([])
})

it('[F60] fails at once while PostgreSQL is gone, goes on by itself, and loses nothing', {
  timeout: 60_000,
}, async () => {
  const notices: string[] = []
  const { durable, executed } = await start({ onNotice: text => notices.push(text) })
  const under = await accepted(durable, { name: 'note', args: { id: 'under way' } })
  await vi.waitFor(() => expect(executed).toEqual(['under way']), WAIT)
  await postgres().kill()
  await vi.waitFor(() => expect(durable.status().state).toBe('lost'), WAIT)
  expect(await durable.run({ name: 'note', args: { id: 'refused' } })).toMatchObject({
    code: 'unavailable',
    error: expect.stringMatching(/^The note service is unavailable: PostgreSQL at .* is unreachable/),
  })
  await postgres().start()
  expect(await under.result).toMatchObject({ success: true, result: { id: 'under way' } })
  await vi.waitFor(() => expect(durable.status().state).toBe('ready'), WAIT)
  expect(await durable.run({ name: 'note', args: { id: 'after' } })).toMatchObject({ success: true })
  expect(executed).toEqual(['under way', 'after'])
  expect(notices).toMatchObject(
    [/is unreachable .* reconnecting/, /is reachable again/].map(text => expect.stringMatching(text)),
  )
})

it.each([
  [
    'postgresql://u:p@127.0.0.1:1/x',
    /127\.0\.0\.1:1\/x refuses connections; is PostgreSQL running there\?; retrying/,
  ],
  ['wrong password', /rejects the password; check user and password/],
  ['no such database', /has no such database; create it/],
])('says what is wrong with a database: %s', async (name, expected) => {
  const url = new URL(postgres().url())
  if (name === 'wrong password') url.password = 'wrong'
  if (name === 'no such database') url.pathname = '/nowhere'
  const databaseUrl = name.includes(' ') ? url.href : name
  const { durable } = await start({ databaseUrl })
  expect(durable.status()).toEqual({ state: 'failed', text: expect.stringMatching(expected) })
  expect(durable.status().text).not.toContain('proof')
  expect(await durable.run({ name: 'seek' }, { timeoutMs: 50 })).toMatchObject({ code: 'unavailable' })
})

it('leaves a database of another release alone, and a second one in this process out', async () => {
  const { durable } = await start()
  const executor = new ToolExecutor(new ToolManager())
  const second = createDurable({ executor, databaseUrl: postgres().url() })
  await second.ready()
  expect(second.status()).toMatchObject({
    state: 'failed',
    text: expect.stringContaining('in use in this process'),
  })
  await second.close()
  expect(await durable.run({ name: 'seek', args: { id: 's' } })).toMatchObject({ success: true })
  await durable.close()
  const client = new pg.Client(postgres().url())
  await client.connect()
  await client.query('UPDATE toolpost.meta SET version = 99')
  const newer = await start()
  expect(newer.durable.status()).toMatchObject({
    state: 'failed',
    text: expect.stringMatching(/belongs to a newer Toolpost .*version is 99.*Upgrade Toolpost here/),
  })
  await newer.durable.close()
  await client.query('UPDATE toolpost.meta SET version = 1')
  const older = await start()
  expect(older.durable.status().text).toMatch(/belongs to an older Toolpost .*drop its schemas/)
  await client.query('UPDATE toolpost.meta SET version = 4')
  await client.end()
})
