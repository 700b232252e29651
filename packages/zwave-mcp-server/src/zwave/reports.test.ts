import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Reports } from './reports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const on = { accepts: (value: unknown) => value === true, timeoutMs: 100 }

it('is confirmed by the expected report', async () => {
  const reports = new Reports()
  const outcome = reports.wait('a', on)
  reports.hear('b', true)
  reports.hear('a', false)
  reports.hear('a', true)
  await expect(outcome).resolves.toEqual({ kind: 'confirmed', reported: true })
  expect(vi.getTimerCount()).toBe(0)
})

it('says what was reported instead when the time is up', async () => {
  const reports = new Reports()
  const outcome = reports.wait('a', on)
  reports.hear('a', false)
  await vi.advanceTimersByTimeAsync(100)
  await expect(outcome).resolves.toEqual({ kind: 'timeout', reported: false })
})

it('ends all waits when the connection is lost', async () => {
  const reports = new Reports()
  const outcomes = [reports.wait('a', on), reports.wait('a', on), reports.wait('b', on)]
  reports.lose()
  await expect(Promise.all(outcomes)).resolves.toEqual([{ kind: 'lost' }, { kind: 'lost' }, { kind: 'lost' }])
})

it('ends when the caller cancels', async () => {
  const cancel = new AbortController()
  const outcome = new Reports().wait('a', { ...on, signal: cancel.signal })
  cancel.abort()
  await expect(outcome).resolves.toEqual({ kind: 'cancelled' })
})

it('ignores what was reported before', async () => {
  const reports = new Reports()
  reports.hear('a', true)
  const outcome = reports.wait('a', on)
  await vi.advanceTimersByTimeAsync(100)
  await expect(outcome).resolves.toEqual({ kind: 'timeout' })
})
