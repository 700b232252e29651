import { describe, expect, it } from 'vitest'
import { contentOf } from './content-blocks.ts'

describe('content of a result', () => {
  it('shows an image of an MCP image block', () => {
    expect(contentOf([{ type: 'image', data: 'iVBO\nRw==', mimeType: 'image/png' }])?.parts).toEqual([
      { kind: 'image', address: 'data:image/png;base64,iVBORw==', mimeType: 'image/png' },
    ])
  })

  it.each([
    ['another type', { type: 'image', data: 'aGk=', mimeType: 'text/html' }],
    ['a type with more behind it', { type: 'image', data: 'aGk=', mimeType: 'image/png,<script>' }],
    ['an address for data', { type: 'image', data: 'https://example.org/x.png', mimeType: 'image/png' }],
    ['no data', { type: 'image', mimeType: 'image/png' }],
  ])('never makes an image of %s', (_, block) => {
    expect(contentOf([block])?.parts[0]?.kind).toBe('other')
  })

  it('keeps text, embedded text and what can only be named', () => {
    const parts = contentOf([
      { type: 'text', text: 'hello' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
      { type: 'resource_link', uri: 'file:///b', name: 'b' },
    ])?.parts
    expect(parts).toMatchObject([
      { kind: 'text', text: 'hello' },
      { kind: 'text', text: 'inside' },
      { kind: 'link', uri: 'file:///b', name: 'b' },
    ])
  })

  it('keeps the structured value beside the blocks', () => {
    const result = { content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 } }
    expect(contentOf(result)).toMatchObject({ structured: { a: 1 } })
  })

  it('leaves plain values alone', () => {
    for (const value of ['text', 7, null, [], [1], { content: 'x' }, [{ type: 'lamp' }]])
      expect(contentOf(value)).toBeUndefined()
  })
})
