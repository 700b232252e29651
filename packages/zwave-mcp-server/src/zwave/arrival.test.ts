import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Arrival } from './arrival.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function begun(expectsMore = () => false) {
  const arrival = new Arrival({ quietMs: 60, maxMs: 1_000, expectsMore })
  arrival.begin()
  let done = false
  void arrival.whenComplete.then(() => {
    done = true
  })
  const isDone = async (afterMs: number) => {
    await vi.advanceTimersByTimeAsync(afterMs)
    return done
  }
  return { arrival, isDone }
}

it('is complete immediately if nothing was begun', async () => {
  await new Arrival({ quietMs: 60, maxMs: 1_000, expectsMore: () => false }).whenComplete
})

it('is complete when it has been quiet for a while', async () => {
  const { arrival, isDone } = begun()
  expect(await isDone(50)).toBe(false)
  arrival.heard()
  expect(await isDone(50)).toBe(false)
  expect(await isDone(10)).toBe(true)
})

it('waits for what is expected, but not forever', async () => {
  const { isDone } = begun(() => true)
  expect(await isDone(990)).toBe(false)
  expect(await isDone(10)).toBe(true)
})

it('can be completed early, and leaves no timer behind', async () => {
  const { arrival, isDone } = begun()
  arrival.complete()
  expect(await isDone(0)).toBe(true)
  arrival.heard()
  expect(vi.getTimerCount()).toBe(0)
})

it('frees those who waited when it begins again', async () => {
  const { arrival, isDone } = begun()
  arrival.begin()
  expect(await isDone(0)).toBe(true)
})
