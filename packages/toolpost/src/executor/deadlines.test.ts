import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/index.ts'
import { Deadlines, type Expiring } from './deadlines.ts'

function entry(deadlineAt: number, name: string, expired: string[]): Expiring {
  return {
    deadlineAt,
    expire: () => expired.push(name),
    queue: undefined,
    before: undefined,
    after: undefined,
  }
}

describe('deadlines', () => {
  it('fire in their own order, also where a call joined late because it was long in being prepared', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    const expired: string[] = []
    deadlines.add(entry(150, 'second', expired), 100)
    deadlines.add(entry(200, 'third', expired), 100)
    deadlines.add(entry(100, 'first', expired), 100)
    await clock.advance(100)
    expect(expired).toEqual(['first'])
    await clock.advance(100)
    expect(expired).toEqual(['first', 'second', 'third'])
  })

  it('that were removed do not fire, wherever they stood', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    const expired: string[] = []
    const entries = ['a', 'b', 'c', 'd'].map((name, at) => entry(100 + at, name, expired))
    for (const each of entries) deadlines.add(each, 100)
    for (const at of [0, 2, 3]) deadlines.remove(entries[at] as Expiring)
    deadlines.remove(entries[0] as Expiring)
    await clock.advance(1_000)
    expect(expired).toEqual(['b'])
    expect(clock.pending).toBe(0)
  })

  it('of thousands of different limits leave nothing behind', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    for (let limit = 1; limit <= 10_000; limit++) {
      const each = entry(limit, 'never', [])
      deadlines.add(each, limit)
      deadlines.remove(each)
    }
    expect(clock.pending).toBe(1)
    await clock.advance(10_000)
    expect(clock.pending).toBe(0)
  })

  it('[F46] of many calls at the same time fire some a turn, and all of them', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    const expired: string[] = []
    const fired: number[] = []
    for (let at = 0; at < 40; at++) deadlines.add(entry(100, `${at}`, expired), 100)
    deadlines.add(entry(500, 'later', expired), 400)
    const advanced = clock.advance(100)
    while (expired.length < 40) {
      const before = expired.length
      await turn()
      fired.push(expired.length - before)
    }
    await advanced
    expect(Math.max(...fired)).toBe(16)
    await clock.advance(400)
    expect(expired).toHaveLength(41)
    expect(clock.pending).toBe(0)
  })

  it('[F46] fire one a turn while what follows takes long', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    const expired: string[] = []
    const turns: number[] = []
    let turnNumber = 0
    const record = () => {
      turns.push(turnNumber)
      const until = performance.now() + 20
      while (performance.now() < until);
    }
    for (let at = 0; at < 6; at++) {
      const each = entry(100, `${at}`, expired)
      deadlines.add({ ...each, expire: () => queueMicrotask(record) }, 100)
    }
    const advanced = clock.advance(100)
    while (turns.length < 6) {
      await turn()
      turnNumber++
    }
    await advanced
    expect(new Set(turns).size).toBe(6)
  })
})
