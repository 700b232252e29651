import pg from 'pg'
import type { Interceptor } from 'toolpost'
import { expect, it, vi } from 'vitest'
import { asks, durableUnderTest, WAIT } from './durable-under-test.ts'

const { start, startWorker, noted, accepted, postgres } = durableUnderTest()
const SLOW = { timeout: 90_000 }

it('[F66] never runs undecided: a run that a person must approve is not queued before', SLOW, async () => {
  const first = await start()
  const options = { key: 'pay-1', approval: { because: 'it costs money' } }
  const run = await accepted(first.durable, { name: 'note', args: { id: 'asked' } }, options)
  expect(await first.durable.get(run.id)).toMatchObject({ state: 'approval', attempts: 0 })
  await first.durable.close({ drainMs: 0 })
  expect(await run.result).toMatchObject({
    error: 'The note service is unavailable: this process is shutting down; the run continues',
  })

  // Another worker, without a rule that asks.
  const second = await start()
  const again = await accepted(second.durable, { name: 'note', args: { id: 'asked' } }, options)
  expect(again.id).toBe(run.id)
  const { approval } = run
  expect(approval).toMatchObject({ tool: 'note', because: 'it costs money' })
  expect(second.executed).toEqual([])
  expect(await second.durable.decide(approval?.id ?? '', 'approve', { by: 'console' })).toBe(true)
  expect(await again.result).toMatchObject({ success: true, run_id: run.id })
  expect([...first.executed, ...second.executed]).toEqual(['asked'])
})

it('does not ask again about a call that was approved on its way here', async () => {
  const { durable, executed } = await start({ interceptor: asks })
  const result = await durable.run({ id: 'y', name: 'note', args: { id: 'once' } }, { approved: true })
  expect(result).toMatchObject({ success: true })
  expect(executed).toEqual(['once'])
})

it('[F68] runs a keyed call that was refused before it ran, once it is sent again', async () => {
  let isRefusing = true
  const refuses = (): Interceptor => async (call, next) =>
    isRefusing
      ? {
          ...{ success: false, code: 'limited', error: 'too many', retry_after_ms: 5_000 },
          ...{ tool_name: call.name, execution_time_ms: 0 },
        }
      : next()
  const { durable, executed } = await start({ interceptor: refuses })
  const send = () => durable.run({ name: 'note', args: { id: 'limited' } }, { key: 'limited-1' })
  expect(await send()).toMatchObject({ code: 'limited', retry_after_ms: 5_000 })
  isRefusing = false
  expect(await send()).toMatchObject({ success: true, result: { id: 'limited' } })
  expect(await send()).toMatchObject({ success: true, result: { id: 'limited' } })
  expect(executed).toEqual(['limited'])
})

it('[F67] connects by itself if PostgreSQL is killed while it connects', SLOW, async () => {
  const client = new pg.Client(postgres().url())
  client.on('error', () => {})
  await client.connect()
  const { durable } = await start({}, false)
  await vi.waitFor(async () => {
    const { rows } = await client.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'toolpost'",
    )
    expect(rows[0].count).toBeGreaterThan(0)
  }, WAIT)
  await postgres().kill()
  await durable.ready()
  await postgres().start()
  await vi.waitFor(() => expect(durable.status().state).toBe('ready'), WAIT)
  await vi.waitFor(
    async () =>
      expect(await durable.run({ name: 'seek', args: { id: 'x' } })).toMatchObject({ success: true }),
    WAIT,
  )
})

it('[F69] answers at the deadline while the worker is frozen, and ends the run honestly', SLOW, async () => {
  const [{ durable }, worker] = await Promise.all([start({ role: 'gateway' }), startWorker('one')])
  await vi.waitFor(() => expect(durable.offers().some(({ workers }) => workers > 0)).toBe(true), WAIT)
  const put = { name: 'put', args: { id: 'frozen', hold: ['one'] } }
  const options = { pool: 'elsewhere', key: 'frozen-1', timeoutMs: 300 }
  const run = await accepted(durable, { ...put, args: { ...put.args } }, { ...options, timeoutMs: 20_000 })
  await vi.waitFor(() => expect(noted('put frozen')).toHaveLength(1), WAIT)
  worker.kill('SIGSTOP')
  expect(await durable.run(put, options)).toMatchObject({
    code: 'timeout',
    error: `Tool 'put' timed out after 300 ms; run '${run.id}' continues`,
    run_id: run.id,
  })
  const unknown = {
    code: 'unavailable',
    error: expect.stringContaining('the outcome of the call is unknown'),
  }
  expect(await run.result).toMatchObject(unknown)
  worker.kill('SIGCONT')
  await vi.waitFor(() => expect(noted('aborted frozen')).toHaveLength(1), WAIT)
  expect(await durable.run(put, options)).toMatchObject(unknown)
  await vi.waitFor(
    async () =>
      expect(
        await durable.run({ name: 'look', args: { id: 'thawed' } }, { pool: 'elsewhere' }),
      ).toMatchObject({
        result: { by: 'one' },
      }),
    WAIT,
  )
})

it('refuses a key that was used for a tool of the same name in another pool', SLOW, async () => {
  const [{ durable }] = await Promise.all([start(), startWorker('two')])
  await vi.waitFor(() => expect(durable.offers().some(({ workers }) => workers > 0)).toBe(true), WAIT)
  const put = { name: 'put', args: { id: 'mine' } }
  expect(await durable.run(put, { key: 'both' })).toMatchObject({ success: true })
  expect(
    await durable.accept(put, { key: 'both', pool: 'elsewhere', calledAs: 'elsewhere__put' }),
  ).toMatchObject({ isConflict: true })
  expect(noted('put mine')).toHaveLength(1)
})

it('makes calls wait while it connects', async () => {
  const { durable } = await start({}, false)
  expect(durable.status().state).toBe('starting')
  expect(await durable.run({ name: 'seek', args: { id: 'early' } })).toMatchObject({ success: true })
})

it('makes calls wait for a PostgreSQL that is not there yet, within their deadline', SLOW, async () => {
  await postgres().kill()
  const { durable } = await start()
  expect(durable.status().text).toMatch(/refuses connections.*retrying/)
  const seek = (timeoutMs: number) => durable.run({ name: 'seek', args: { id: 'early' } }, { timeoutMs })
  expect(await seek(50)).toMatchObject({ code: 'unavailable' })
  const answer = seek(60_000)
  await postgres().start()
  expect(await answer).toMatchObject({ success: true })
})

it('warns if another project shares its database and pool', SLOW, async () => {
  const notices: string[] = []
  const onNotice = (text: string) => notices.push(text)
  const [{ durable }] = await Promise.all([start({ pool: 'elsewhere', onNotice }), startWorker('three')])
  durable.publish([{ name: 'put', description: '', schema: {}, fingerprint: 'of another project' }])
  await vi.waitFor(
    () => expect(notices.join()).toContain("pool 'elsewhere' in this database defines 'put'"),
    WAIT,
  )
})

it('holds calls per minute', SLOW, async () => {
  const { durable, executed } = await start({ pool: 'slow', limits: { local: { perMinute: 3 } } })
  for (const number of [1, 2, 3, 4, 5]) await accepted(durable, { name: 'note', args: { id: `p${number}` } })
  await vi.waitFor(() => expect(executed).toHaveLength(3), WAIT)
  const states = (await durable.list({ tool: 'note', limit: 5 })).map(({ state }) => state)
  expect(states.filter(state => state === 'waiting')).toHaveLength(2)
})

it('keeps runs for the configured number of days', async () => {
  const { durable } = await start()
  const [old = '', young = ''] = await Promise.all(
    ['old', 'young'].map(async id => (await durable.run({ name: 'seek', args: { id } })).run_id),
  )
  await durable.close()
  const client = new pg.Client(postgres().url())
  await client.connect()
  const age = "UPDATE toolpost.runs SET ended_at = now() - $2::float8 * interval '1 hour' WHERE id = $1"
  await client.query(age, [old, 170])
  await client.query(age, [young, 166])
  await client.end()
  const later = await start({ days: 7 })
  await vi.waitFor(async () => expect(await later.durable.get(old)).toBeUndefined(), WAIT)
  expect(await later.durable.get(young)).toMatchObject({ state: 'done' })
})
