import { describe, expect, it } from 'vitest'
import { sentenceGraph } from '../../test/support/sentence-graph.ts'
import { AllowedTokens } from './bound/allowed-tokens.ts'
import { SentenceSearch } from './bound/sentence-search.ts'
import { tokenLetters } from './bound/token-letters.ts'
import { type DecoderState, END_TOKEN, type Row } from './decoder.ts'
import { FreeText } from './free-text.ts'
import { HEARINGS } from './hearings.ts'
import { NameTree } from './names/name-tree.ts'
import { NamedText } from './names/named-text.ts'
import { type Writing, writeTogether } from './write-together.ts'

const WORDS = '▁turn ▁on ▁off ▁the ▁lamp ▁ramp ▁fan ▁plex ▁plaques ▁ask'.split(' ')
const VOCABULARY = ['', '', '', ...WORDS]
const UNLIKELY = -20

/** How likely each word is after a text, in nats; `.` is the end, and what is not told is most unlikely. */
type Model = Record<string, Record<string, number>>

/** A decoder that remembers only the texts, and counts how many it wrote in each run. */
function decoderOf(model: Model) {
  const runs: number[] = []
  const rowOf = (text: string): Row => {
    const logits = new Float32Array(VOCABULARY.length).fill(UNLIKELY)
    for (const [word, likelihood] of Object.entries(model[text] ?? {}))
      logits[word === '.' ? END_TOKEN : VOCABULARY.indexOf(`▁${word}`)] = likelihood
    return { logits, logSum: 0 }
  }
  const stateOf = (texts: readonly string[]) =>
    ({ rows: texts.map(rowOf), past: { texts } }) as unknown as DecoderState
  const advance = async ({ past }: DecoderState, tokens: readonly number[], from: readonly number[]) => {
    runs.push(tokens.length)
    const { texts } = past as unknown as { texts: string[] }
    return stateOf(tokens.map((token, index) => `${texts[from[index] ?? 0]}${VOCABULARY[token]}`))
  }
  const write = (...writings: Writing[]) =>
    writeTogether(writings, { first: stateOf(['']), advance, most: 8, isStopped: () => false })
  return { write, runs }
}

const textOf = (tokens: readonly number[] = []) => tokens.map(token => VOCABULARY[token]).join('')

describe('what is written of what was heard', () => {
  const letters = tokenLetters(VOCABULARY)
  const graph = sentenceGraph({ sentence: 'turn (on|off) the (lamp|fan)' })
  const search = (floor = () => Number.NEGATIVE_INFINITY) =>
    new SentenceSearch({
      allowed: new AllowedTokens(graph, letters),
      mostTokens: 9,
      floor,
      beam: HEARINGS[0].beam,
    })
  const model: Model = {
    '': { turn: -0.1 },
    '▁turn': { on: -0.5, off: -1 },
    '▁turn▁on': { the: -0.1 },
    '▁turn▁off': { the: -0.1 },
    '▁turn▁on▁the': { ramp: -0.5, lamp: -1 },
    '▁turn▁off▁the': { lamp: -1 },
    '▁turn▁on▁the▁ramp': { '.': -0.1 },
    '▁turn▁on▁the▁lamp': { '.': -0.1 },
    '▁turn▁off▁the▁lamp': { '.': -0.4 },
  }

  it('is the likeliest text, and the likeliest sentences, in the same runs', async () => {
    const { write, runs } = decoderOf(model)
    const [free, sentences] = [new FreeText(9), search()]
    await write(free, sentences)
    expect(textOf(free.tokens)).toBe('▁turn▁on▁the▁ramp')
    expect(free.score).toBeCloseTo(-1.3)
    expect(sentences.sentences().map(({ text }) => text)).toEqual(['turn on the lamp', 'turn off the lamp'])
    const [on, off] = sentences.sentences().map(({ score }) => score)
    expect(on).toBeCloseTo(-1.8)
    expect(off).toBeCloseTo(-2.6)
    expect(runs).toEqual([2, 3, 3, 3])
  })

  it('is no sentence that is less likely than the floor, also if that is known only later', async () => {
    let floor = Number.NEGATIVE_INFINITY
    const sentences = search(() => floor)
    await decoderOf(model).write(sentences)
    floor = -2
    expect(sentences.sentences().map(({ text }) => text)).toEqual(['turn on the lamp'])
  })

  it('goes no further than it may, and stops when it is told', async () => {
    const free = new FreeText(2)
    await decoderOf(model).write(free)
    expect(textOf(free.tokens)).toBe('▁turn▁on')
    expect(free.hasEnded).toBe(true)
    const stopped = { first: { rows: [], past: {} }, most: 8, isStopped: () => true }
    await writeTogether([search()], { ...stopped, advance: () => Promise.reject(new Error('runs')) })
  })

  it('has a name that is nearly as likely as what was heard freely, and none that is not', async () => {
    const names = new NameTree(['plex'], {
      encode: text => [VOCABULARY.indexOf(`▁${text}`)],
      endsWord: () => true,
    })
    const heard = async (plex: number) => {
      const said = { '': { ask: -0.1 }, '▁ask': { plaques: -0.5, plex } }
      const { write } = decoderOf({ ...said, '▁ask▁plaques': { '.': 0 }, '▁ask▁plex': { '.': 0 } })
      const named = new NamedText({ names, mostTokens: 9, freeScore: -0.6 })
      await write(named)
      return named.tokens && textOf(named.tokens)
    }
    expect(await heard(-2)).toBe('▁ask▁plex')
    expect(await heard(-5)).toBeUndefined()
  })
})
