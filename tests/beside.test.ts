import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { besideAttack } from './beside.ts'

function freeze(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe('the probe beside an attack', () => {
  it('gives what the attack gave, if nobody felt it', async () => {
    const probe = async () => {}
    expect(await besideAttack({ attack: () => pause(20, 'done'), probe })).toBe('done')
  })

  it('gives the error of an attack that fails', async () => {
    await expect(besideAttack({ attack: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
  })

  it('tells a freeze of the event loop, although nothing could be measured meanwhile', async () => {
    const attack = async () => {
      await pause(200)
      freeze(1_500)
      await pause(200)
    }
    await expect(besideAttack({ attack })).rejects.toThrow(/felt beside it, at p99: \d+ ms \(idle/)
  })

  it('tells a freeze that begins with the attack', async () => {
    const attack = async () => freeze(1_500)
    await expect(besideAttack({ attack })).rejects.toThrow('felt beside it')
  })

  it('tells that another call waits, although the event loop is free', async () => {
    let isAttacked = false
    const probe = () => pause(isAttacked ? 2_000 : 1)
    const attack = async () => {
      isAttacked = true
      await pause(100)
      isAttacked = false
    }
    await expect(besideAttack({ attack, probe })).rejects.toThrow('felt beside it')
  })
})
