import { describe, expect, it } from 'vitest'
import { type NamePlace, NameTree } from './name-tree.ts'

const LETTERS = ' abcdefghijklmnopqrstuvwxyz'
const encode = (text: string) => [...` ${text}`].map(letter => LETTERS.indexOf(letter))
const tree = new NameTree(['plex', 'plexus', 'kodi'], { encode, endsWord: token => token === 0 })

/** What a text gains in all, a letter at a time. */
function gained(text: string): number {
  let place: NamePlace = tree.start()
  let sum = 0
  for (const token of encode(text)) {
    const step = tree.after(place, token)
    place = step.place
    sum += step.gain
  }
  return sum - tree.lostAtEnd(place)
}

describe('names that are a little likelier', () => {
  it('gain something as a whole, once in a text, and no more if they are long', () => {
    expect(gained('start plex')).toBeGreaterThan(0)
    expect(gained('plex please')).toBe(gained('start plex'))
    expect(gained('plex on kodi')).toBe(gained('start plex'))
    expect(gained('plexus')).toBe(gained('plex'))
  })

  it('gain nothing if they break off, or are a part of another word', () => {
    expect(gained('plexing with kodi')).toBe(gained('kodi'))
    for (const text of ['start ple', 'plexing', 'the complex', 'kod and more'])
      expect(gained(text)).toBe(Number.NEGATIVE_INFINITY)
  })
})
