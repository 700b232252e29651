import pg from 'pg'
import type { Durable } from 'toolpost/project'
import { expect, it, vi } from 'vitest'
import { serverProblem } from '../src/database/schema.ts'
import { asks, durableUnderTest, WAIT } from './durable-under-test.ts'

const { start, startWorker, noted, accepted, postgres } = durableUnderTest()

/** As if time had passed in the database. */
async function age(column: 'started_at_epoch_ms' | 'completed_at', milliseconds: number, id = '%') {
  const client = new pg.Client(postgres().url())
  await client.connect()
  const set = `SET ${column} = ${column} - $1::bigint WHERE workflow_uuid LIKE $2`
  await client
    .query(`UPDATE toolpost_engine.workflow_status ${set}`, [milliseconds, id])
    .finally(() => client.end())
}

/** Waits until a run is parked: a person is being asked, and no worker is executing it. */
async function parked(durable: Durable, id: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await durable.get(id)).toMatchObject({ state: 'approval' })
    expect((await durable.workers()).map(({ running }) => running)).toEqual([0])
  }, WAIT)
}

it('gives back its place while a person takes long to decide, and answers its caller all the same', {
  timeout: 60_000,
}, async () => {
  const { durable, executed } = await start({ interceptor: asks, times: { inPlaceMs: 20 } })
  const run = await accepted(durable, { id: 'slow', name: 'note', args: { id: 'slow' } })
  await parked(durable, run.id)
  expect(executed).toEqual([])
  await durable.decide('about-slow', 'approve')
  expect(await run.result).toMatchObject({ success: true, result: { id: 'slow' }, run_id: run.id })
  expect(executed).toEqual(['slow'])
})

it('[F60] goes on after a restart with what was parked for an approval, and runs it once', {
  timeout: 60_000,
}, async () => {
  const first = await start({ interceptor: asks, times: { inPlaceMs: 20 } })
  const run = await accepted(first.durable, { id: 'kept', name: 'note', args: { id: 'kept' } })
  await parked(first.durable, run.id)
  await first.durable.close({ drainMs: 0 })
  expect(await run.result).toMatchObject({
    code: 'unavailable',
    error: 'The note service is unavailable: this process is shutting down; the run continues',
  })
  const second = await start({ interceptor: asks })
  expect(await second.durable.get(run.id)).toMatchObject({ state: 'approval' })
  expect(await second.durable.decide('about-kept', 'approve')).toBe(true)
  const isDone = async () => expect(await second.durable.get(run.id)).toMatchObject({ state: 'done' })
  await vi.waitFor(isDone, WAIT)
  expect([...first.executed, ...second.executed]).toEqual(['kept'])
})

it('holds calls per minute over two workers, and goes on when the minute is over', {
  timeout: 60_000,
}, async () => {
  const limits = { put: { perMinute: 3 } }
  const [{ durable }] = await Promise.all([
    start({ pool: 'elsewhere', limits }),
    startWorker('other', limits),
  ])
  const isOffered = () => expect(durable.offers().map(({ tool }) => tool.name)).toContain('put')
  await vi.waitFor(isOffered, WAIT)
  const runs = await Promise.all(
    [1, 2, 3, 4, 5].map(number => accepted(durable, { name: 'put', args: { id: `p${number}` } })),
  )
  const states = async () =>
    (await durable.list({ tool: 'put' })).map(({ state }) => state).sort((a, b) => a.localeCompare(b))
  await vi.waitFor(
    async () => expect(await states()).toEqual(['done', 'done', 'done', 'waiting', 'waiting']),
    WAIT,
  )
  // Both look again meanwhile.
  await new Promise(resolve => setTimeout(resolve, 1_200))
  expect(noted('put')).toHaveLength(3)
  await age('started_at_epoch_ms', 61_000)
  const results = await Promise.all(runs.map(({ result }) => result))
  expect(results.every(({ success }) => success)).toBe(true)
  expect(noted('put')).toHaveLength(5)
})

it('keeps runs for the configured number of days', async () => {
  const { durable } = await start()
  const [old = '', young = ''] = await Promise.all(
    ['old', 'young'].map(async id => (await durable.run({ name: 'seek', args: { id } })).run_id),
  )
  await durable.close()
  await age('completed_at', 170 * 3_600_000, old)
  await age('completed_at', 166 * 3_600_000, young)
  const later = await start({ days: 7 })
  await vi.waitFor(async () => expect(await later.durable.get(old)).toBeUndefined(), WAIT)
  expect(await later.durable.get(young)).toMatchObject({ state: 'done' })
})

it.each([
  ['90624', '9.6.24', true],
  ['120017', '12.17', true],
  ['130000', '13.0', false],
  ['180001', '18.1 (Debian 18.1-1)', false],
])('says of a server that gives its version as %s whether it is too old', (number, version, isTooOld) => {
  const problem = `PostgreSQL ${version} is too old: durable calls need 13 or newer. Upgrade the server, or set "durable": true to use an embedded one`
  expect(serverProblem({ number, version })).toBe(isTooOld ? problem : undefined)
})
