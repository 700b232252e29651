import { createHash } from 'node:crypto'
import { addDecoys } from './decoys.ts'
import type { Grammar } from './grammar.ts'
import { GraphBuilder } from './graph-builder.ts'
import type { SentenceGraph } from './sentence-graph.ts'

const phrases = (text: string) => text.split(';').map(phrase => phrase.trim().split(' '))
/** Of all politeness, what is heard most: each more is one more way to mishear. */
const BEFORE = phrases('please;could you;could you please;can you;can you please;would you;would you please;will you;hey;okay')
const AFTER = phrases('please;thanks;thank you;now')

/** All sentences of a grammar as a graph of words. */
export function graphOf(grammar: Grammar): SentenceGraph {
  const builder = new GraphBuilder(grammar)
  const whole = builder.reserve()
  const commands = builder.sentences(({ tool }) => !tool.readOnly)
  const questions = builder.sentences(({ tool }) => tool.readOnly === true)
  const before = builder.phrases(BEFORE)
  const after = builder.phrases(AFTER)
  const decoys = builder.write(writer => addDecoys(writer, commands))
  builder.fill(whole, writer => {
    const start = [...writer.start, ...writer.rule(writer.start, before)]
    const command = writer.rule(start, commands)
    const second = writer.rule(writer.word(command, 'and'), commands)
    const said = [...command, ...second, ...writer.rule(start, questions), ...writer.rule(start, decoys)]
    writer.end([...said, ...writer.rule(said, after)])
  })
  const rules = builder.rules()
  const version = createHash('sha1').update(JSON.stringify(rules)).digest('hex').slice(0, 16)
  return { version, rules }
}
