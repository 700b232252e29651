import { describe, expect, it } from 'vitest'
import { tellingLine } from './telling-line.ts'

const NODE = `node:internal/modules/cjs/loader:1143
  throw err;
  ^

Error: Cannot find module '/srv/notes/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.0
`
const PYTHON = `Traceback (most recent call last):
  File "/srv/x.py", line 1, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'
`

describe('the telling line of a stderr', () => {
  it.each([
    [NODE, "Error: Cannot find module '/srv/notes/index.js'"],
    [PYTHON, "ModuleNotFoundError: No module named 'mcp'"],
    [
      'starting\nError: listen EADDRINUSE: address already in use :::3000\n    at x',
      'Error: listen EADDRINUSE: address already in use :::3000',
    ],
    ['hello\nGITHUB_TOKEN is required\nbye', 'GITHUB_TOKEN is required'],
    ['just\nsome words\n', 'some words'],
    ['  \n', undefined],
  ])('is found among the others: %#', (stderr, expected) => {
    expect(tellingLine(stderr)).toBe(expected)
  })
})
