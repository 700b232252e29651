import { describe, expect, it } from 'vitest'
import { prepareSentence } from './match.ts'
import { exampleOf } from './suggestions.ts'
import { parseTemplate } from './template.ts'

describe('sentence templates', () => {
  it('read words, brackets, alternatives and arguments', () => {
    expect(parseTemplate('Turn {action:on|off} [the|my] (lamp|{deviceName}) {x=1} {e#math}')).toEqual([
      { kind: 'word', key: 'turn' },
      { kind: 'slot', name: 'action', choices: ['on', 'off'] },
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
    ['turn [on', "has a bracket without its ']'"],
    ['turn on]', "has a ']' that nothing opens"],
    ['turn (on|off', "has a bracket without its ')'"],
    ['turn {', "has '{', which is not an argument"],
    ['turn {}', "has '{}', which is not an argument"],
    ['turn {a b}', "has '{a b}', which is not an argument"],
    ['turn {a:on|}', "has '{a:on|}' with an empty value"],
    ['turn {a#date}', "has '{a#date}'; the only kind is #math"],
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
    expect(prepareSentence('set {n}', schema).readers.size).toBe(1)
  })
})
