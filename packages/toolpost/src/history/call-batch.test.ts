import { describe, expect, it } from 'vitest'
import { weighArguments } from '../executor/check-arguments.ts'
import type { CallEvent } from '../executor/observers.ts'
import { addCall, newBatch } from './call-batch.ts'

const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n]))

/** Counts how often the keys of a value are listed, which takes milliseconds if there are many. */
function counted<T extends object>(target: T) {
  let listings = 0
  const ownKeys = (inner: T) => {
    listings++
    return Reflect.ownKeys(inner)
  }
  return { value: new Proxy(target, { ownKeys }), listings: () => listings }
}

function kept(args: unknown, result: unknown): unknown[] {
  const batch = newBatch()
  const event = { serial: 1, startedAt: 0, call: { id: 'c', name: 't', args } } as CallEvent
  addCall(batch, event, { success: true, result, tool_name: 't', execution_time_ms: 1 })
  return batch.values
}

describe('what is kept of a call', () => {
  it('[F46] has not listed the places of a long list', () => {
    const { value, listings } = counted(Array.from({ length: 50_000 }, () => 1))
    const [, , result] = kept({}, { list: value })
    expect(listings()).toBe(0)
    expect(String(result).length).toBeLessThan(20_000)
  })

  it('[F46] has not listed again the names of arguments with many, wherever they are in them', () => {
    for (const wrap of [(inner: object) => inner, (inner: object) => ({ inner })]) {
      const { value, listings } = counted(names(5_000))
      const args = wrap(value)
      weighArguments(args)
      const before = listings()
      kept(args, 'done')
      expect(listings()).toBe(before)
    }
  })

  it('[F46] of a result with many names has listed them twice at most', () => {
    const { value, listings } = counted(names(5_000))
    kept({}, value)
    expect(listings()).toBeLessThanOrEqual(2)
  })
})
