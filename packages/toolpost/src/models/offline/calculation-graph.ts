import type { GraphBuilder } from './graph-builder.ts'
import { numberInWords } from './numbers.ts'

const BETWEEN = [
  'plus',
  'minus',
  'times',
  'divided by',
  'multiplied by',
  'percent of',
  'to the power of',
].map(words => words.split(' '))

/** A rule for the whole numbers up to a thousand: "two hundred and five". */
export function upToThousand(builder: GraphBuilder): number {
  const small = builder.phrases(Array.from({ length: 100 }, (_, value) => numberInWords(value)))
  const digits = builder.phrases(Array.from({ length: 9 }, (_, value) => numberInWords(value + 1)))
  return builder.write(writer => {
    const hundreds = writer.word(
      [...writer.rule(writer.start, digits), ...writer.word(writer.start, 'a')],
      'hundred',
    )
    const rest = writer.rule([...hundreds, ...writer.word(hundreds, 'and')], small)
    return [
      ...writer.rule(writer.start, small),
      ...hundreds,
      ...rest,
      ...writer.words(writer.start, ['one', 'thousand']),
    ]
  })
}

/** A rule for what people calculate aloud. */
export function calculations(builder: GraphBuilder, number: number): number {
  return builder.write(writer => {
    const first = writer.rule(writer.start, number)
    const signs = BETWEEN.flatMap(words => writer.words(first, words))
    const root = ['the square root of', 'square root of'].flatMap(words =>
      writer.words(writer.start, words.split(' ')),
    )
    return [...writer.rule(signs, number), ...writer.rule(root, number), ...writer.word(first, 'squared')]
  })
}
