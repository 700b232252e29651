import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchSentence, prepareSentence } from './match.ts'
import { requestOf } from './request.ts'
import { TemplateError } from './template.ts'

const schema = {
  type: 'object',
  properties: {
    mode: { enum: ['Night Mode', 'day', 3] },
    level: { type: 'integer', minimum: 10, maximum: 20 },
    loud: { type: 'boolean' },
    name: { type: 'string' },
  },
}
const match = (template: string, text: string) => {
  const request = requestOf(text)
  return request && matchSentence(prepareSentence(template, schema), request)?.args
}

describe('matching a sentence', () => {
  it.each([
    ['set {mode}', 'set night mode', { mode: 'Night Mode' }],
    ['set {mode}', 'Set NIGTH MODE!', { mode: 'Night Mode' }],
    ['set {mode}', 'set 3', { mode: 3 }],
    ['be {loud}', 'be yes', { loud: true }],
    ['be {loud}', 'be off', { loud: false }],
    ['to {level}', 'to half', { level: 15 }],
    ['to {level}', 'to maximum', { level: 20 }],
    ['to {level}', 'to fifteen per cent', { level: 15 }],
    ['call {name} now', 'call Dr. Smith-Jones now', { name: 'Dr. Smith-Jones' }],
    ['go {level=12} {loud=on}', 'go', { level: 12, loud: true }],
    ['say ({text}|hello)', 'say hello', {}],
    ['say {text}', 'say "hi, there"', { text: 'hi, there' }],
  ])('%s: %s', (template, text, args) => {
    expect(match(template, text)).toEqual(args)
  })

  it.each([
    ['set {mode}', 'set evening'],
    ['to {level}', 'to somewhere'],
    ['turn on', 'turn off'],
    ['turn on', 'turn on the light'],
    ['{name} on', 'is it on'],
    ['a [b]', ''],
  ])('%s is not: %s', (template, text) => {
    expect(match(template, text)).toBeUndefined()
  })

  it('gives up on a sentence that could be followed in too many ways', () => {
    const template = `${'[a] '.repeat(60)}b`
    expect(match(template, `${'a '.repeat(60)}c`)).toBeUndefined()
  })

  it('never throws, whatever the sentence and the request', () => {
    const piece = fc.constantFrom(
      'turn',
      'on',
      '[',
      ']',
      '(',
      ')',
      '|',
      '{name}',
      '{mode}',
      '{level}',
      '{x:a|b}',
      '{x=1}',
      '{name#math}',
      '{level#number}',
      '{level#percent}',
      '{x@list}',
      '{x:a=b|c}',
      '<turn>',
      '<',
      '>',
      ';',
      '{__proto__}',
      '{constructor:on}',
      '}',
      ' ',
      '10',
    )
    const templates = fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(' '))
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(' ')),
    )
    fc.assert(
      fc.property(templates, texts, (template, text) => {
        try {
          match(template, text)
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
