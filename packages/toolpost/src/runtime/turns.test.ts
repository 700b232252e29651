import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { inSlices, SLICE_MS } from './slices.ts'
import { Turns } from './turns.ts'

describe('Turns', () => {
  it('gives each turn of the event loop to one, and in turn to those who wait', async () => {
    const turns = new Turns()
    const order: string[] = []
    const wait = async (whose: string) => {
      await turns.next(whose)
      order.push(whose)
    }
    const all = ['a', 'a', 'a', 'b', 'b', 'c'].map(wait)
    for (let loops = 1; loops <= 6; loops++) {
      await turn()
      expect(order.length).toBeLessThanOrEqual(loops)
    }
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })

  it('lets the first one in at once, and the next ones one after the other', async () => {
    const turns = new Turns()
    expect(turns.enter()).toBeUndefined()
    const second = turns.enter()
    expect(second).toBeInstanceOf(Promise)
    await second
    await turn()
    await turn()
    expect(turns.enter()).toBeUndefined()
  })

  it('lets newcomers in before the next piece of work, but not for ever', async () => {
    const turns = new Turns()
    let isDone = false
    void turns.next().then(() => {
      isDone = true
    })
    for (let loops = 0; loops < 100; loops++) {
      turns.welcome()
      await turn()
      expect(isDone).toBe(false)
    }
    for (let loops = 0; loops < 300; loops++) {
      turns.welcome()
      await turn()
    }
    expect(isDone).toBe(true)
  })
})

/** Keeps a core busy for longer than a slice. */
function spin(): void {
  const until = performance.now() + SLICE_MS
  while (performance.now() < until);
}

describe('inSlices', () => {
  it('does one slice per turn, however many run at the same time', async () => {
    let slices = 0
    const jobs = Array.from({ length: 10 }, () =>
      inSlices([1, 2, 3], () => {
        slices++
        spin()
      }),
    )
    // Each began with a slice of its own.
    for (let before = slices; slices < 30; before = slices) {
      await turn()
      expect(slices - before).toBeLessThanOrEqual(1)
    }
    await Promise.all(jobs)
  })
})
