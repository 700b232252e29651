import { expect, it } from 'vitest'
import { decide } from '../src/listening/decision.ts'
import type { Meaning } from '../src/messages.ts'

const MEANINGS: Readonly<Record<string, Meaning>> = {
  'turn on switch one': { kind: 'act', key: 'one on', changes: true, free: 0 },
  'turn off switch one': { kind: 'act', key: 'one off', changes: true, free: 0 },
  'turn on switch won': { kind: 'act', key: 'won on', changes: true, free: 0 },
  'turn off the living room light': { kind: 'act', key: 'light off', changes: true, free: 0 },
  'turn off the bedroom': { kind: 'act', key: 'bedroom off', changes: true, free: 0 },
  'turn off the bedroom heater': { kind: 'talk', key: 'no heater', changes: false, free: 0 },
  'google has announced a new phone today': { kind: 'tell', key: 'search', changes: false, free: 6 },
  'what is the time': { kind: 'tell', key: 'time', changes: false, free: 0 },
}
const NOTHING: Meaning = { kind: 'nothing', key: '', changes: false, free: 0 }
const understand = (text: string) => MEANINGS[text.toLowerCase().replaceAll(/[.?!,]/g, '')] ?? NOTHING

/** Decides on a free transcript and sentences, each as `text score`. */
function decided(heard: string): string {
  const [free, ...sentences] = heard.split(' / ').map(line => {
    const at = line.lastIndexOf(' ')
    return { text: line.slice(0, at), score: Number(line.slice(at)) }
  })
  const { text, decision } = decide({ text: '', score: 0, ...free, sentences }, understand)
  return `${decision}: ${text}`
}

it.each([
  ['Turn on switch one. -1 / turn on switch one -1 / turn off switch one -9', 'exact: Turn on switch one.'],
  [
    'Turn of the leaving room like. -3 / turn off the living room light -4 / what is the time -22',
    'sentence: turn off the living room light',
  ],
  // On or off: nothing but the margin tells.
  ['Turn of switch one. -3 / turn off switch one -3.5 / turn on switch one -3.6', 'ask: turn off switch one'],
  // They sound the same.
  ['Turn on switch one. -1 / turn on switch one -1 / turn on switch won -3', 'ask: Turn on switch one.'],
  // Any words are a search, which these may not be.
  ['Google has announced a new phone today. -1', 'ask: Google has announced a new phone today.'],
  ['Turn off the bedroom heater. -1.5 / turn off the bedroom -4.5', 'free: Turn off the bedroom heater.'],
  // What was heard freely says nothing, and neither does that it is no likelier.
  ['Que el negemos le re. -20 / turn on switch one -19.8', 'free: Que el negemos le re.'],
  ['The children are playing outside. -2 / what is the time -20', 'free: The children are playing outside.'],
  // A decoy is likelier.
  [
    "Don't turn on switch one. -2 / don't turn on switch one -2 / turn on switch one -12",
    "free: Don't turn on switch one.",
  ],
])('%s → %s', (heard, expected) => {
  expect(decided(heard)).toBe(expected)
})
