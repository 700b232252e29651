import { expect, it } from 'vitest'
import { compact } from './compact-rule.ts'
import { RuleWriter } from './rule-writer.ts'

it('has one way for each word, also where several ways begin alike', () => {
  const writer = new RuleWriter()
  const [turn, put] = [writer.word(writer.start, 'turn'), writer.word(writer.start, 'put')]
  const both = writer.word([...turn, ...put], 'on')
  writer.end([...writer.word(both, 'light'), ...writer.words(turn, ['on', 'fan'])])
  const { arcs, ends } = compact(writer.written())
  const after = (state: number, word: string) => arcs[state]?.find(([label]) => label === word)?.[1] ?? -1
  const end = (...words: string[]) => ends.includes(words.reduce(after, 0))
  expect([end('turn', 'on', 'light'), end('turn', 'on', 'fan'), end('put', 'on', 'light')]).toEqual([
    true,
    true,
    true,
  ])
  expect(end('put', 'on', 'fan')).toBe(false)
})

it('tells apart more words than have a small number, and keeps what goes on alike once', () => {
  const writer = new RuleWriter()
  const words = Array.from({ length: 20_000 }, (_, at) => `word${at}`)
  writer.end(words.flatMap(word => writer.words(writer.start, [word, 'lamp'])))
  const { arcs, ends } = compact(writer.written())
  expect(arcs[0]?.map(([label]) => label)).toEqual(words)
  expect([arcs.length, ends]).toEqual([3, [2]])
})
