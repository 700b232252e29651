import { describe, expect, it } from 'vitest'
import { coalesced } from './coalesced.ts'

describe('an action that is asked for again and again', () => {
  it('[F51] runs once at a time, and once more for all that asked meanwhile', async () => {
    const runs: (() => void)[] = []
    const refresh = coalesced(() => new Promise<void>(resolve => void runs.push(resolve)))
    const first = refresh()
    for (let time = 0; time < 1_000; time += 1) void refresh()
    expect(runs).toHaveLength(1)
    runs[0]?.()
    await expect.poll(() => runs.length).toBe(2)
    runs[1]?.()
    await first
    expect(runs).toHaveLength(2)
  })

  it('runs again after a failure', async () => {
    let runs = 0
    const refresh = coalesced(async () => {
      runs += 1
      throw new Error('no')
    })
    await refresh()
    await refresh()
    expect(runs).toBe(2)
  })
})
