import { describe, expect, it } from 'vitest'
import { hrefOf, parseRoute, type Route } from './route.ts'

describe('addresses inside the page', () => {
  it.each<[string, Route]>([
    ['#/', { view: 'home' }],
    ['#/tools', { view: 'tools' }],
    ['#/tools/a%2Fb%20c%3F', { view: 'tools', tool: 'a/b c?' }],
    ['#/tools/echo?call=12', { view: 'tools', tool: 'echo', from: '12' }],
    ['#/calls', { view: 'calls', filter: {} }],
    [
      '#/calls/7?tool=echo&outcome=failed',
      { view: 'calls', serial: '7', filter: { tool: 'echo', outcome: 'failed' } },
    ],
    ['#/approvals', { view: 'approvals' }],
    ['#/servers', { view: 'servers' }],
    ['#/chat', { view: 'chat' }],
  ])('%s names one view and is written the same', (hash, route) => {
    expect(hrefOf(route)).toBe(hash)
    expect(parseRoute(hash)).toMatchObject(route)
    expect(hrefOf(parseRoute(hash))).toBe(hash)
  })

  it('that name nothing lead home', () => {
    for (const hash of ['', '#', '#/', '#/nowhere', '#/%E0%A4%A'])
      expect(parseRoute(hash)).toEqual({ view: 'home' })
  })
})
