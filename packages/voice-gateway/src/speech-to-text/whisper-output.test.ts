import { describe, expect, it } from 'vitest'
import { outgrownAt } from '../../test/support/work-growth.ts'
import { wordsOf } from './whisper-output.ts'

describe('the words in the output of whisper.cpp', () => {
  it.each([
    ['[00:00:00.000 --> 00:00:02.000]   Turn on the light.\n', 'Turn on the light.'],
    ['[BLANK_AUDIO]', ''],
    ['(door closes) Hello *laughs* there ♪♪', 'Hello there'],
    [' one\n two ', 'one two'],
  ])('are those that were said: %j', (output, words) => {
    expect(wordsOf(output)).toBe(words)
  })

  it.each(['[', '(', '*', ' ', '\n', '[00:00', '[00:00.0 --> ', '♪', '[('])(
    'are found in proportion to its length: %j again and again',
    again => {
      const textOf = (length: number) => again.repeat(Math.ceil(length / again.length))
      expect(outgrownAt(wordsOf, textOf)).toBeUndefined()
    },
  )
})
