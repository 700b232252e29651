import { describe, expect, it } from 'vitest'
import { traceContext } from './trace-context.ts'

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const read = (given: Record<string, unknown>) => traceContext(key => given[key] ?? null)

describe('the trace that a request belongs to', () => {
  it('may be of a later version, which may say more', () => {
    expect(read({ traceparent: `01${PARENT.slice(2)}-more` })).toEqual({
      traceparent: `01${PARENT.slice(2)}-more`,
    })
  })

  it.each([
    ['not hexadecimal', PARENT.replace('4bf9', 'xyz0')],
    ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a span of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['of the forbidden version', `ff${PARENT.slice(2)}`],
    ['longer than its version permits', `${PARENT}-more`],
    ['endless', `01${PARENT.slice(2)}-${'x'.repeat(10_000)}`],
    ['no text', 7],
  ])('is ignored with its state if its parent is %s; baggage stays', (_title, traceparent) => {
    expect(read({ traceparent, tracestate: 'vendor=1', baggage: 'a=b' })).toEqual({ baggage: 'a=b' })
  })

  it.each([
    ['too long', 'a='.padEnd(9_000, 'x')],
    ['with control characters', 'a=\u001b[2J'],
    ['no text', { a: 'b' }],
  ])('comes without a state and baggage that are %s', (_title, value) => {
    expect(read({ traceparent: PARENT, tracestate: value, baggage: value })).toEqual({ traceparent: PARENT })
  })
})
