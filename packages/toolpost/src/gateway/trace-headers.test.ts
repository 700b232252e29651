import { describe, expect, it } from 'vitest'
import { dataOf, testGateway } from '../../test/gateway.ts'
import { defineTool } from '../tools/tool.ts'

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const HEADERS = { traceparent: PARENT, tracestate: 'vendor=1', baggage: 'user=ada' }

/** Gives back what came along with its call. */
const metaTool = defineTool({
  name: 'meta',
  description: 'Shows what came along',
  schema: { type: 'object' },
  handler: (_args, { meta }) => meta ?? {},
})

describe('the trace in the headers of', () => {
  it.each([
    ['a call goes along with it', HEADERS, HEADERS],
    ['a call without any is none', {}, {}],
    [
      'a call is ignored if it is malformed',
      { ...HEADERS, traceparent: '00-00-00-00' },
      { baggage: 'user=ada' },
    ],
    ['a call is all that is taken', { ...HEADERS, cookie: 'a=b', 'x-api-key': 'k' }, HEADERS],
  ])('%s', async (_title, headers, expected) => {
    await using gateway = testGateway([metaTool])
    const { result } = await dataOf(
      gateway.post('/api/tools/meta/call', {}, { headers: headers as Record<string, string> }),
    )
    expect(result).toEqual(expected)
  })
})
