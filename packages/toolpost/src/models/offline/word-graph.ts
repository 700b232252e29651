import { createHash } from 'node:crypto'
import { addDecoys } from './decoys.ts'
import type { Grammar, ToolSentence } from './grammar.ts'
import { GraphBuilder } from './graph-builder.ts'
import type { SentenceGraph } from './sentence-graph.ts'

const phrases = (text: string) => text.split(';').map(phrase => phrase.trim().split(' '))
/** Only the most common polite phrases: each extra one is one more way to mishear. */
const CALL = phrases('hey;okay')
const BEFORE = phrases(
  `please;could you;could you please;can you;can you please;would you;would you please;will you;just;i want you to;
  i would like you to;i need you to;could you just;can you just`,
)
const AFTER = phrases(
  'please;thanks;thank you;now;right now;for me;for me please;now please;would you;will you',
)

/** "Turn the fan on and *the light off*". */
const ON_OR_OFF = '[<the>] {deviceName@switchable} {action:on|off}'

/** All sentences of a grammar as a word graph. */
export function graphOf(grammar: Grammar): SentenceGraph {
  const builder = new GraphBuilder(grammar)
  const whole = builder.reserve()
  const isOrder = ({ sentence, tool }: ToolSentence) => !tool.readOnly && grammar.beginsWithVerb(sentence)
  const orders = builder.sentences(isOrder)
  const halves = builder.sentences(({ sentence }) => sentence.template === ON_OR_OFF, { isBegun: true })
  const commands = builder.sentences(one => !one.tool.readOnly && !isOrder(one))
  const questions = builder.sentences(({ tool }) => tool.readOnly === true)
  const call = builder.phrases(CALL)
  const before = builder.phrases(BEFORE)
  const after = builder.phrases(AFTER)
  const decoys = builder.write(writer =>
    addDecoys(writer, { commands: orders, locks: builder.names('locks') }),
  )
  builder.fill(whole, writer => {
    const called = [...writer.start, ...writer.rule(writer.start, call)]
    const start = [...called, ...writer.rule(called, before)]
    const order = writer.rule(start, orders)
    const joined = writer.word(order, 'and')
    const and = [
      ...joined,
      ...writer.word(joined, 'then'),
      ...writer.word(joined, 'also'),
      ...writer.word(order, 'then'),
    ]
    const second = [...writer.rule(and, orders), ...writer.rule(and, halves)]
    const said = [
      ...order,
      ...second,
      ...writer.rule(start, commands),
      ...writer.rule(start, questions),
      ...writer.rule(start, decoys),
    ]
    writer.end([...said, ...writer.rule(said, after)])
  })
  const rules = builder.rules()
  const version = createHash('sha1').update(JSON.stringify(rules)).digest('hex').slice(0, 16)
  return { version, rules }
}
