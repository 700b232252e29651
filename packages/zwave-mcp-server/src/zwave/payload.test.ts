import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePayload } from './payload.ts'

describe('reading payloads', () => {
  it.each([
    ['{"time":5,"value":21.5}', { value: 21.5, time: 5 }],
    ['{"time":5}', { time: 5 }],
    [
      '{"value":99,"lastUpdate":7,"unit":"W","label":"Power"}',
      { value: 99, time: 7, unit: 'W', label: 'Power' },
    ],
    ['true', { value: true }],
    ['"on"', { value: 'on' }],
    ['42', { value: 42 }],
    ['{"value":true,"status":"Alive","nodeId":2}', { value: true, status: 'Alive', nodeId: 2 }],
    ['{"time":1e300,"value":1}', { value: 1 }],
    ['"a\\u001b[31mb\\n\\u202ec"', { value: 'a [31mb c' }],
    ['{"time":5,"value":{"unit":"seconds"}}', { time: 5 }],
  ])('reads %s', (text, expected) => {
    expect(parsePayload(text)).toEqual({ ok: true, payload: expected })
  })

  it.each([
    ['on', 'it is not JSON'],
    ['{"time":', 'it is not JSON'],
    ['null', 'it is not JSON'],
    ['{}', 'it has no value'],
    ['{"time":"x"}', 'it has no value'],
    ['[1]', 'it has no value'],
    [`"${'x'.repeat(70_000)}"`, 'it is too long'],
    ['['.repeat(20_000), 'it is not JSON'],
  ])('refuses %.40s', (text, reason) => {
    expect(parsePayload(text)).toEqual({ ok: false, reason })
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), text => void parsePayload(text)))
  })
})
