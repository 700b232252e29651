import type { Interceptor } from 'toolpost'
import { expect, it } from 'vitest'
import { durableUnderTest, soon } from './durable-under-test.ts'

const { start, startWorker, noted, accepted, query, postgres } = durableUnderTest()
const SLOW = { timeout: 90_000 }

it('[F66] never runs undecided: a run that a person must approve is not queued before', SLOW, async () => {
  const first = await start()
  const options = { key: 'pay-1', approval: { because: 'it costs money' } }
  const run = await accepted(first.durable, { name: 'note', args: { id: 'asked' } }, options)
  expect(run.approval).toMatchObject({ tool: 'note', because: 'it costs money' })
  expect(await first.durable.get(run.id)).toMatchObject({ state: 'approval', attempts: 0 })
  await first.durable.close({ drainMs: 0 })
  expect(await run.result).toMatchObject({
    error: 'The note service is unavailable: this process is shutting down; the run continues',
  })

  // Another worker, without a rule that asks.
  const second = await start()
  const again = await accepted(second.durable, { name: 'note', args: { id: 'asked' } }, options)
  expect(again.id).toBe(run.id)
  expect(second.executed).toEqual([])
  expect(await second.durable.decide(run.approval?.id ?? '', 'approve', { by: 'console' })).toBe(true)
  expect(await again.result).toMatchObject({ success: true, run_id: run.id })
  expect([...first.executed, ...second.executed]).toEqual(['asked'])
})

it('[F68] keeps only what was executed: a key that was refused before runs when it is sent again', async () => {
  let refusal: 'limited' | 'unavailable' | undefined
  const refuses = (): Interceptor => async (call, next) =>
    refusal
      ? {
          ...{ success: false, code: refusal, error: 'not now', retry_after_ms: 5_000 },
          ...{ tool_name: call.name, execution_time_ms: 0 },
        }
      : next()
  const { durable, executed } = await start({ interceptor: refuses })
  const send = (name: string, key: string) => durable.run({ name, args: { id: key } }, { key })
  for (const code of ['limited', 'unavailable'] as const) {
    refusal = code
    expect(await send('note', code)).toMatchObject({ code, retry_after_ms: 5_000 })
    expect(await send('note', code)).toMatchObject({ code })
    refusal = undefined
    expect(await send('note', code)).toMatchObject({ success: true, result: { id: code } })
    refusal = code
    expect(await send('note', code)).toMatchObject({ success: true, result: { id: code } })
  }
  expect(executed).toEqual(['limited', 'unavailable'])
  // A tool that was invoked and failed stays failed.
  refusal = undefined
  expect(await send('fail', 'failed')).toMatchObject({ code: 'tool_error', error: 'attempt 1' })
  expect(await send('fail', 'failed')).toMatchObject({ code: 'tool_error', error: 'attempt 1' })
  expect(await send('fail', 'another')).toMatchObject({ error: 'attempt 2' })
})

it('[F68] runs a key that found no worker, once there is one', SLOW, async () => {
  const { durable } = await start({ role: 'gateway' })
  await query("UPDATE toolpost.meta SET orphan_timeout = '1 ms'")
  const send = () => durable.run({ name: 'put', args: { id: 'later' } }, { key: 'later', pool: 'elsewhere' })
  expect(await send()).toMatchObject({ code: 'unavailable' })
  await startWorker('late')
  await soon(async () => expect(await send()).toMatchObject({ result: { by: 'late' } }))
  expect(noted('put later')).toHaveLength(1)
  await query("UPDATE toolpost.meta SET orphan_timeout = '2 min'")
})

it('[F67] connects by itself if PostgreSQL is killed while it connects', SLOW, async () => {
  const { durable } = await start({}, false)
  const count =
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE '________-____-____-____-____________'"
  await soon(async () => expect((await query(count)).rows[0].count).toBeGreaterThan(0))
  await postgres().kill()
  await durable.ready()
  await postgres().start()
  await soon(() => expect(durable.status().state).toBe('ready'))
  expect(await durable.run({ name: 'seek', args: { id: 'x' } })).toMatchObject({ success: true })
})

it('[F69] answers at the deadline while the worker is frozen, and ends the run honestly', SLOW, async () => {
  const [{ durable }, worker] = await Promise.all([start({ role: 'gateway' }), startWorker('one')])
  await query("UPDATE toolpost.meta SET silence = '3 s'")
  await soon(() => expect(durable.offers().some(({ workers }) => workers > 0)).toBe(true))
  const put = { name: 'put', args: { id: 'frozen', hold: ['one'] } }
  const options = { pool: 'elsewhere', key: 'frozen-1', timeoutMs: 300 }
  const run = await accepted(durable, { ...put, args: { ...put.args } }, { ...options, timeoutMs: 20_000 })
  await soon(() => expect(noted('put frozen')).toHaveLength(1))
  worker.kill('SIGSTOP')
  expect(await durable.run(put, options)).toMatchObject({
    code: 'timeout',
    error: `Tool 'put' timed out after 300 ms; run '${run.id}' continues`,
    run_id: run.id,
  })
  const unknown = { error: expect.stringContaining('the outcome of the call is unknown') }
  expect(await run.result).toMatchObject(unknown)
  worker.kill('SIGCONT')
  await soon(() => expect(noted('aborted frozen')).toHaveLength(1))
  expect(await durable.run(put, options)).toMatchObject(unknown)
  const look = { name: 'look', args: { id: 'thawed' } }
  await soon(async () =>
    expect(await durable.run(look, { pool: 'elsewhere' })).toMatchObject({ success: true }),
  )
})

it('refuses a key that was used for a tool of the same name in another pool', SLOW, async () => {
  const [{ durable }] = await Promise.all([start(), startWorker('two')])
  await soon(() => expect(durable.offers().some(({ workers }) => workers > 0)).toBe(true))
  const put = { name: 'put', args: { id: 'mine' } }
  expect(await durable.run(put, { key: 'both' })).toMatchObject({ success: true })
  const other = { key: 'both', pool: 'elsewhere', calledAs: 'elsewhere__put' }
  expect(await durable.accept(put, other)).toMatchObject({ isConflict: true })
  expect(noted('put mine')).toHaveLength(1)
})

it('makes calls wait while it connects, also for a PostgreSQL that is not there yet', SLOW, async () => {
  const first = await start({}, false)
  expect(first.durable.status().state).toBe('starting')
  const seek = { name: 'seek', args: { id: 'early' } }
  expect(await first.durable.run(seek, { key: 'early' })).toMatchObject({ success: true })
  await first.durable.close()
  await postgres().kill()
  const { durable, executed } = await start()
  expect(durable.status().text).toMatch(/refuses connections.*retrying/)
  expect(await durable.run(seek, { timeoutMs: 50 })).toMatchObject({ code: 'unavailable' })
  // The key of a run that exists, and another one.
  const answers = ['early', 'late'].map(key => durable.run(seek, { key, timeoutMs: 60_000 }))
  await postgres().start()
  for (const answer of answers) expect(await answer).toMatchObject({ success: true })
  expect(executed).toEqual(['early'])
})

it('warns if another project shares its database and pool', SLOW, async () => {
  const notices: string[] = []
  const onNotice = (text: string) => notices.push(text)
  const [{ durable }] = await Promise.all([start({ pool: 'elsewhere', onNotice }), startWorker('three')])
  durable.publish([{ name: 'put', description: 'With \0', schema: {}, fingerprint: 'of another project' }])
  await soon(() => expect(notices.join()).toContain("pool 'elsewhere' in this database defines 'put'"))
})

it('keeps runs for the configured number of days', async () => {
  const { durable } = await start()
  const [old = '', young = ''] = await Promise.all(
    ['old', 'young'].map(async id => (await durable.run({ name: 'seek', args: { id } })).run_id),
  )
  await durable.close()
  const age = (id: string, hours: number) =>
    query(`UPDATE toolpost.runs SET ended_at = now() - interval '${hours} hours' WHERE id = '${id}'`)
  await age(old, 170)
  await age(young, 166)
  const later = await start({ days: 7 })
  await soon(async () => expect(await later.durable.get(old)).toBeUndefined())
  expect(await later.durable.get(young)).toMatchObject({ state: 'done' })
})
