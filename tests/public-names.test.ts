import { describe, expect, it } from 'vitest'

const ENTRIES = [
  'toolpost',
  'toolpost/adapters',
  'toolpost/config',
  'toolpost/history',
  'toolpost/interceptors',
  'toolpost/project',
  'toolpost/mcp',
  'toolpost/models',
  'toolpost/gateway',
  'toolpost/terminal',
  'toolpost/testing',
  'voice-gateway',
]

describe('public names', () => {
  it.each(ENTRIES)('of %s are these', async entry => {
    expect(Object.keys(await import(entry)).sort()).toMatchSnapshot()
  })
})
