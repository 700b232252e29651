import { describe, expect, it } from 'vitest'
import { EventParser } from './event-parser.ts'

describe('server-sent events', () => {
  it('are read with their name, data and id', () => {
    expect(new EventParser().push('id: 7\nevent: call\ndata: {"a":1}\n\n')).toEqual([
      { event: 'call', data: '{"a":1}', id: '7' },
    ])
  })

  it('are the same however the text is cut, and with every kind of line break', () => {
    for (const lineBreak of ['\n', '\r\n', '\r']) {
      const text = [': hello', 'event: token', 'data: a', 'data: b', '', 'data: c', '', ''].join(lineBreak)
      const parser = new EventParser()
      const events = [...`${text}x`].flatMap(character => parser.push(character))
      expect(events).toEqual([
        { event: 'token', data: 'a\nb', id: undefined },
        { event: 'message', data: 'c', id: undefined },
      ])
    }
  })

  it('come to nothing where there is no data', () => {
    const parser = new EventParser()
    expect(parser.push(':\n\nevent: call\n\n')).toEqual([])
    expect(parser.push('data\n\n')).toEqual([{ event: 'message', data: '', id: undefined }])
  })

  it('are held back until they are whole', () => {
    const parser = new EventParser()
    expect(parser.push('data: half')).toEqual([])
    expect(parser.push(' done\n')).toEqual([])
    expect(parser.push('\n')).toEqual([{ event: 'message', data: 'half done', id: undefined }])
  })
})
