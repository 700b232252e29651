import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { namesOf } from './names-of.ts'

describe('the names of an object', () => {
  const counted = (names: number) => {
    let listings = 0
    const target = Object.fromEntries(Array.from({ length: names }, (_, n) => [`n${n}`, n]))
    const ownKeys = (inner: object) => {
      listings++
      return Reflect.ownKeys(inner)
    }
    const value = new Proxy(target, { ownKeys })
    return { value, target, listings: () => listings }
  }

  it('[F46] are listed once a turn if there are many, and as they are then', async () => {
    const { value, target, listings } = counted(3_000)
    expect(namesOf(value)).toHaveLength(3_000)
    namesOf(value)
    expect(listings()).toBe(1)
    await turn()
    target.more = 1
    expect(namesOf(value)).toHaveLength(3_001)
  })

  it('are never remembered if there are few', () => {
    const { value, target } = counted(3)
    namesOf(value)
    target.more = 1
    expect(namesOf(value)).toHaveLength(4)
  })
})
