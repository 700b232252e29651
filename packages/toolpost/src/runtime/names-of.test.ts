import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hasManyNames, keepNames, namesOf, shownNames } from './names-of.ts'

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

  it('[F46] are listed once per turn if there are many, as they are at that time', async () => {
    const { value, target, listings } = counted(3_000)
    expect(namesOf(value)).toHaveLength(3_000)
    namesOf(value)
    expect(listings()).toBe(1)
    expect(hasManyNames(value)).toBe(true)
    await turn()
    target.more = 1
    expect(hasManyNames(value)).toBe(false)
    expect(namesOf(value)).toHaveLength(3_001)
  })

  it('are never remembered if there are few', () => {
    const { value, target } = counted(3)
    namesOf(value)
    target.more = 1
    expect(namesOf(value)).toHaveLength(4)
  })

  it('[F46] of arguments with many are listed once for all who show some of them, but anew for who needs them all', async () => {
    const { value, target, listings } = counted(3_000)
    keepNames(value)
    await turn()
    target.more = 1
    expect(hasManyNames(value)).toBe(true)
    expect(shownNames(value)).toHaveLength(3_000)
    expect(listings()).toBe(1)
    expect(namesOf(value)).toHaveLength(3_001)
  })
})
