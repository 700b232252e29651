import { describe, expect, it } from 'vitest'
import { matchSentence, prepareSentence } from './match.ts'
import { type Request, requestOf } from './request.ts'
import { exampleOf } from './suggestions.ts'
import { parseTemplate } from './template.ts'

describe('sentence templates', () => {
  it('read words, brackets, alternatives and arguments', () => {
    expect(parseTemplate('Turn {action:on|off} [the|my] (lamp|{deviceName}) {x=1} {e#math}')).toEqual([
      { kind: 'word', key: 'turn' },
      { kind: 'slot', name: 'action', choices: ['on', 'off'].map(say => ({ say, value: say })) },
      {
        kind: 'group',
        isOptional: true,
        branches: [[{ kind: 'word', key: 'the' }], [{ kind: 'word', key: 'my' }]],
      },
      {
        kind: 'group',
        isOptional: false,
        branches: [[{ kind: 'word', key: 'lamp' }], [{ kind: 'slot', name: 'deviceName' }]],
      },
      { kind: 'fixed', name: 'x', value: '1' },
      { kind: 'slot', name: 'e', isCalculation: true },
    ])
  })

  it.each([
    ['turn [on', "has a bracket without a matching ']'"],
    ['turn on]', "has an unmatched ']'"],
    ['turn (on|off', "has a bracket without a matching ')'"],
    ['turn {', "has '{', which is not an argument"],
    ['turn {}', "has '{}', which is not an argument"],
    ['turn {a b}', "has '{a b}', which is not an argument"],
    ['turn {a:on|}', "has '{a:on|}' with an empty value"],
    ['turn {a#date}', "has '{a#date}'; expected #math, #number, #percent or #degrees, at character 6"],
    ['   ', 'has no words'],
    ['x'.repeat(1_001), 'is longer than 1000 characters'],
  ])('%s %s', (template, problem) => {
    expect(() => parseTemplate(template)).toThrow(problem)
  })

  it('give an example of themselves', () => {
    expect(exampleOf(parseTemplate('(turn|switch) {action:on|off} [the] {deviceName}'))).toBe('turn on …')
  })

  it('know the type of an argument from the schema, through references too', () => {
    const schema = { $defs: { n: { type: 'integer' } }, properties: { n: { $ref: '#/$defs/n' } } }
    const match = (text: string) =>
      matchSentence(prepareSentence('set {n}', schema), requestOf(text) as Request)?.args
    expect(match('set twelve')).toEqual({ n: 12 })
    expect(match('set something')).toBeUndefined()
  })
})
