import { describe, expect, it } from 'vitest'
import { contentText } from '../executor/result.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { valueOfResult } from './call-result.ts'

const text = (value: string) => ({ type: 'text', text: value })

describe('valueOfResult', () => {
  it('only text is the text', () => {
    expect(valueOfResult({ content: [text('one')] })).toBe('one')
    const two = [text('one'), text('two')]
    expect(valueOfResult({ content: two })).toEqual(new ToolOutput('one\ntwo', two))
    const noted = [{ ...text('one'), annotations: { priority: 1 } }]
    expect(valueOfResult({ content: noted })).toEqual(new ToolOutput('one', noted))
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

  it('structured content is the value, and the content beside it comes along as it is', () => {
    const structuredContent = { temperature: 22 }
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    const content = [text('22 degrees'), image]
    const output = valueOfResult({ content, structuredContent }) as ToolOutput
    expect(output).toBeInstanceOf(ToolOutput)
    expect(output.value).toBe(structuredContent)
    expect(output.content).toBe(content)
    expect(valueOfResult({ content: [text('five')], structuredContent: 5 })).toEqual(
      new ToolOutput(5, [text('five')]),
    )
    expect(valueOfResult({ structuredContent })).toBe(structuredContent)
  })

  it.each([
    [{ isError: true, content: [text('my words')] }, 'my words'],
    [{ isError: true, content: [text('a'), { type: 'image' }, text('b')] }, 'a\nb'],
    [{ isError: true, content: [], structuredContent: { why: 'x' } }, '{"why":"x"}'],
    [{ isError: true }, 'The tool reported an error without a message'],
  ])('an error is thrown in its own words: %j', (result, words) => {
    expect(() => valueOfResult(result)).toThrow(expect.objectContaining({ message: words }))
  })
})

describe('_meta of a result', () => {
  it('comes along, without what the protocol itself puts there', () => {
    const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'x' } }
    expect(valueOfResult({ content: [text('one')], _meta })).toBe('one')
    const meta = { 'example.com/x': 1 }
    const content = [text('one')]
    expect(valueOfResult({ content, _meta: { ..._meta, ...meta } })).toEqual(
      new ToolOutput('one', content, meta),
    )
  })
})
