import { describe, expect, it } from 'vitest'
import { decide } from '../src/listening/decision.ts'
import type { Meaning } from '../src/messages.ts'

const MEANINGS: Readonly<Record<string, Meaning>> = {
  'turn on switch one': { kind: 'act', key: 'one on', changes: true },
  'turn off switch one': { kind: 'act', key: 'one off', changes: true },
  'turn on switch won': { kind: 'act', key: 'won on', changes: true },
  'turn off the living room light': { kind: 'act', key: 'light off', changes: true },
  'what is the time': { kind: 'tell', key: 'time', changes: false },
}
const NOTHING: Meaning = { kind: 'nothing', key: '', changes: false }
const understand = (text: string) => MEANINGS[text.toLowerCase().replaceAll(/[.?!,]/g, '')] ?? NOTHING

/** Decides on a free transcript and sentences, each as `text score`. */
function decided(free: string, ...sentences: string[]) {
  const read = (line: string) => {
    const at = line.lastIndexOf(' ')
    return { text: line.slice(0, at), score: Number(line.slice(at)) }
  }
  const { text, decision } = decide({ ...read(free), sentences: sentences.map(read) }, understand)
  return `${decision}: ${text}`
}

describe('what was said', () => {
  it.each([
    [
      'Turn on switch one. -1',
      ['turn on switch one -1', 'turn off switch one -9'],
      'exact: Turn on switch one.',
    ],
    [
      'Turn of the leaving room like. -3',
      ['turn off the living room light -4', 'what is the time -22'],
      'sentence: turn off the living room light',
    ],
    // On or off: nothing but the margin tells.
    [
      'Turn of switch one. -3',
      ['turn off switch one -3.5', 'turn on switch one -3.6'],
      'ask: turn off switch one',
    ],
    // They sound the same.
    [
      'Turn on switch one. -1',
      ['turn on switch one -1', 'turn on switch won -3'],
      'ask: Turn on switch one.',
    ],
    [
      'Turn off the light in ten minutes. -2',
      ['turn off the living room light -18'],
      'free: Turn off the light in ten minutes.',
    ],
    [
      'The children are playing outside. -2',
      ['what is the time -20'],
      'free: The children are playing outside.',
    ],
    // A decoy is likelier.
    [
      "Don't turn on switch one. -2",
      ["don't turn on switch one -2", 'turn on switch one -12'],
      "free: Don't turn on switch one.",
    ],
    ['Nobody knows. -2', [], 'free: Nobody knows.'],
  ])('%s', (free, sentences, expected) => {
    expect(decided(free, ...sentences)).toBe(expected)
  })
})
