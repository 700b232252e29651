import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { besideAttack } from './beside.ts'

const MB = 1024 * 1024

/** In processor time: on a busy machine it takes longer. */
function freeze(ms: number): void {
  const before = process.cpuUsage()
  for (let used = 0; used < ms; ) {
    const { user, system } = process.cpuUsage(before)
    used = (user + system) / 1_000
  }
}

describe('the probe beside an attack', () => {
  it('returns the result of the attack if nobody felt it', async () => {
    const probe = async () => {}
    expect(await besideAttack({ attack: () => pause(20, 'done'), probe })).toBe('done')
  })

  it('rejects with the error of an attack that fails', async () => {
    await expect(besideAttack({ attack: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
  })

  const once = { attempts: 1, slowdown: () => 1 }

  it('reports a freeze of the event loop every time, although nothing could be measured meanwhile', async () => {
    let attempts = 0
    const attack = async () => {
      attempts++
      await pause(20)
      freeze(1_050)
      await pause(20)
    }
    await expect(besideAttack({ attack, ...once, attempts: 2 })).rejects.toThrow(
      /felt beside it, at p99: \d+ ms, once \d+ ms \(idle 0 ms, limit 100 ms\); \d+ ms, once/,
    )
    expect(attempts).toBe(2)
  })

  it('reports a freeze that begins with the attack', async () => {
    const attack = async () => freeze(200)
    await expect(besideAttack({ attack, ...once })).rejects.toThrow('felt beside it')
  })

  it('makes allowance for a busy machine', async () => {
    const attack = async () => freeze(200)
    await besideAttack({ attack, attempts: 1, slowdown: () => 1_000 })
  })

  it('reports a long freeze among many short waits', async () => {
    const attack = async () => {
      await pause(10)
      freeze(1_050)
      for (let turns = 0; turns < 300; turns++) await pause(5)
    }
    await expect(besideAttack({ attack, ...once })).rejects.toThrow('felt beside it')
  })

  it('reports that another call has to wait, although the event loop is free', async () => {
    let isAttacked = false
    const probe = () => pause(isAttacked ? 300 : 1)
    const attack = async () => {
      isAttacked = true
      await pause(100)
      isAttacked = false
    }
    await expect(besideAttack({ attack, probe, ...once })).rejects.toThrow('felt beside it')
  })

  it('reports what an attack leaves in memory, but not what can be collected', async () => {
    const kept: Buffer[] = []
    const attack = async () => {
      for (let n = 0; n < 8; n++) kept.push(Buffer.alloc(10 * MB, 1))
    }
    await expect(besideAttack({ attack })).rejects.toThrow('The attack left 80 MB in memory')
    kept.length = 0
    const passing = () => attack().then(() => void kept.splice(0))
    expect(await besideAttack({ attack: passing })).toBeUndefined()
  })
})
