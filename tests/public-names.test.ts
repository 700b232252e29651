import { describe, expect, it } from 'vitest'

const PARTS = 'adapters config history interceptors project mcp models gateway terminal testing'.split(' ')
const ENTRIES = ['toolpost', ...PARTS.map(part => `toolpost/${part}`), 'voice-gateway']

describe('public names', () => {
  it.each(ENTRIES)('of %s are these', async entry => {
    expect(Object.keys(await import(entry)).sort()).toMatchSnapshot()
  })
})
