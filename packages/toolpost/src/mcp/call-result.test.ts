import { describe, expect, it } from 'vitest'
import { contentText } from '../executor/content-text.ts'
import { refusalOf, valueOfResult } from './call-result.ts'

const text = (value: string) => ({ type: 'text', text: value })

describe('valueOfResult', () => {
  it('only text is the text', () => {
    expect(valueOfResult({ content: [text('one')] })).toBe('one')
    expect(valueOfResult({ content: [text('one'), text('two')] })).toBe('one\ntwo')
    expect(valueOfResult({ content: [] })).toBe('')
  })

  it('images, audio, links and resources stay the blocks that they are', () => {
    const content = [
      text('see'),
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'a:b', text: 'x' } },
    ]
    expect(valueOfResult({ content })).toBe(content)
    expect(contentText(content)).toBe('see\n[image image/png]\nx')
  })

  it('structured content is the value, and the text beside it is what a model reads', () => {
    const structuredContent = { temperature: 22 }
    const value = valueOfResult({ content: [text('22 degrees')], structuredContent })
    expect(value).toBe(structuredContent)
    expect(Object.keys(value as object)).toEqual(['temperature'])
    expect(contentText(value)).toBe('22 degrees')
    expect(valueOfResult({ structuredContent })).toBe(structuredContent)
  })

  it('structured content beside an image, or that is no object, keeps its content', () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    expect(valueOfResult({ content: [image], structuredContent: { a: 1 } })).toEqual({
      content: [image],
      structuredContent: { a: 1 },
    })
    expect(valueOfResult({ content: [text('five')], structuredContent: 5 })).toEqual({
      content: [text('five')],
      structuredContent: 5,
    })
  })

  it.each([
    [{ isError: true, content: [text('my words')] }, 'my words'],
    [{ isError: true, content: [text('a'), { type: 'image' }, text('b')] }, 'a\nb'],
    [{ isError: true, content: [], structuredContent: { why: 'x' } }, '{"why":"x"}'],
    [{ isError: true }, 'The tool failed and its server did not say why'],
    [
      { resultType: 'input_required', inputRequests: {} },
      'The tool asks for more input, which cannot be given here',
    ],
  ])('an error is thrown in its own words: %j', (result, words) => {
    expect(() => valueOfResult(result)).toThrow(expect.objectContaining({ message: words }))
  })
})

describe('refusalOf', () => {
  it.each([
    [{ code: -32602, message: 'missing x' }, 'missing x'],
    ['only text', 'only text'],
    [{ code: -1 }, 'The server refused the call without a reason (code -1)'],
    [null, 'The server refused the call without a reason'],
  ])('%j', (error, words) => {
    expect(refusalOf(error).message).toBe(words)
  })
})
