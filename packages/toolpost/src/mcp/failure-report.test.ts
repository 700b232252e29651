import { expect, it } from 'vitest'
import { describeFailure, type FailureReport } from './failure-report.ts'
import { describeError } from './server-failure.ts'

const report: FailureReport = {
  server: 'files',
  entry: { command: 'npx', args: ['-y', 'mcp-files'] },
  attempts: 3,
  cause: 'the server exited with code 1',
  stderr: '',
  localTools: ['datetime'],
  othersReady: false,
}

it('names the command and its configuration for any server but the Z-Wave one', () => {
  expect(describeFailure(report).split('\n')).toEqual([
    '❌ Failed to initialize MCP tools after 3 attempts',
    "   Reason: Connection to stdio server 'files' failed: the server exited with code 1",
    '   MCP Server stderr: (nothing)',
    "   Check: 'npx' is installed, and 'args', 'env' and 'cwd' of 'files' are correct",
    '⚠️ Continuing with local tools only (datetime)',
  ])
})

it('names MQTT for the Z-Wave server, by whatever it is known', () => {
  for (const entry of [{ command: 'zwave-mcp-server' }, { command: 'node', args: ['./z-wave/server.js'] }]) {
    expect(describeFailure({ ...report, entry })).toContain(
      'Check: MQTT broker running, zwave-mcp-server installed',
    )
  }
})

it('says what goes on where other servers are ready, or where there are no local tools', () => {
  expect(describeFailure({ ...report, othersReady: true })).toMatch(
    /⚠️ Continuing without the tools of 'files'$/,
  )
  expect(describeFailure({ ...report, localTools: [] })).toMatch(/local tools only \(none\)$/)
})

it('shows the last lines of a long stderr, indented', () => {
  const stderr = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')
  const text = describeFailure({ ...report, stderr })
  expect(text.length).toBeLessThan(3_000)
  expect(text).toContain('\n      line 499\n   Check')
})

it('says once what an error and its cause both say', () => {
  const cause = new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND x') })
  const error = new Error('The probe failed: fetch failed', { cause })
  expect(describeError(error)).toBe('The probe failed: fetch failed: getaddrinfo ENOTFOUND x')
})
