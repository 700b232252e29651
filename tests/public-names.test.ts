import { describe, expect, it } from 'vitest'

describe('public names', () => {
  it.each(['toolpost', 'toolpost/mcp', 'toolpost/models', 'toolpost/gateway', 'toolpost/testing'])(
    'of %s are these',
    async entry => {
      expect(Object.keys(await import(entry)).sort()).toMatchSnapshot()
    },
  )
})
