import { describe, expect, it } from 'vitest'
import { comparePhones } from './phone-distance.ts'
import { Pronunciation } from './pronunciation.ts'
import { saidWords } from './said-words.ts'

const pronunciation = new Pronunciation()

function compare(a: string, b: string) {
  const phones = (text: string) => saidWords(text).flatMap(word => pronunciation.phonesOf(word))
  return comparePhones(phones(a), phones(b))
}

describe('pronunciation', () => {
  it.each([
    ['switch', 'S W IH CH'],
    ['won', 'W AH N'],
    ["don't", 'D OW N T'],
    // Not in the dictionary.
    ['zigbee', 'Z IH G B IY'],
    ['shelly', 'SH EH L IY'],
    ['käse', 'K AE S'],
  ])('of %s is %s', (word, phones) => {
    expect(pronunciation.phonesOf(word).join(' ')).toBe(phones)
  })

  it('is empty for another alphabet', () => {
    expect(pronunciation.phonesOf('лампа')).toEqual([])
  })
})

describe('the words of a text', () => {
  it('are those that are said', () => {
    expect(saidWords('Set it to 75%, at 21°.').join(' ')).toBe(
      'set it to seventy five percent at twenty one degrees',
    )
    expect(saidWords('1234 or 007').join(' ')).toBe('one thousand two hundred thirty four or zero zero seven')
  })
})

describe('the distance of two sounds', () => {
  it('is nothing for what sounds the same', () => {
    expect(compare('Switch One', 'switch won')).toEqual({ distance: 0, longestGap: 0, worstPlace: 0 })
    expect(compare('to 30%', 'two thirty percent').distance).toBe(0)
  })

  it('is small for what is misheard and large for something else', () => {
    expect(
      compare('Brighton, the living room lighted to ninety', 'brighten the living room light to ninety')
        .distance,
    ).toBeLessThan(0.15)
    expect(compare('Bloc the back door', 'lock the back door').distance).toBeLessThan(0.15)
    expect(compare('The meeting was moved to Thursday', 'turn on switch one').distance).toBeGreaterThan(0.5)
  })

  it('tells another word from another spelling by how much differs in one place', () => {
    const spelling = compare('Leaving room light to seek steepers in', 'living room light to sixty percent')
    const other = compare('dim the dining room light', 'dim the living room light')
    expect(spelling.worstPlace).toBeLessThan(0.3)
    expect(other.worstPlace).toBeGreaterThan(1)
  })

  it('tells a word that was dropped by its length', () => {
    expect(compare('turn on the light in ten minutes', 'turn on the light').longestGap).toBeGreaterThan(5)
    expect(compare('please turn on the light', 'turn on the light').longestGap).toBe(4)
    expect(compare('', 'mute').longestGap).toBe(4)
    expect(compare('', '')).toEqual({ distance: 0, longestGap: 0, worstPlace: 0 })
  })
})
