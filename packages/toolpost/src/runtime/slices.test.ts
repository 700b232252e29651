import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ownTurn } from './slices.ts'

describe('a turn of one’s own', () => {
  it('[F46] is shared with nobody else who asked: others get theirs in between', async () => {
    const order: string[] = []
    const pieces = [1, 2, 3].map(async piece => {
      await ownTurn()
      order.push(`piece ${piece}`)
    })
    const other = async () => {
      for (let turns = 0; turns < 4; turns++) {
        await turn()
        order.push('other')
      }
    }
    await Promise.all([...pieces, other()])
    const at = [1, 2, 3].map(piece => order.indexOf(`piece ${piece}`))
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(order.slice(at[0], at[2]).filter(one => one === 'other')).toHaveLength(2)
  })
})
