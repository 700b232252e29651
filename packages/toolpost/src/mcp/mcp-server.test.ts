import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startHostile, startServers } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { offeringServer } from './test-servers/offering.ts'

it('[F72] a package runner that downloads for longer than a handshake may take is not killed, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-runner-'))
  const npx = join(folder, 'npx')
  const { command, args = [], env } = hostileServer() as StdioServerEntry
  writeFileSync(npx, '#!/bin/sh\nsleep 1\nexec "$@"\n')
  chmodSync(npx, 0o755)
  const reports: string[] = []
  const options = { connectTimeoutMs: 100, onReport: (text: string) => void reports.push(text) }
  await using server = await startServers({ slow: { command: npx, args: [command, ...args], env } }, options)
  expect(server.status()).toMatchObject({ state: 'ready', attempts: 1 })
  expect(reports).toEqual([
    expect.stringMatching(/'slow' is still starting: 'npx' is probably downloading it/),
  ])
  expect(server.log.text()).toContain('downloading')
  rmSync(folder, { recursive: true })
})

it('keeps the last messages of a server, without secrets and without long content', async () => {
  await using server = await startHostile({}, { env: { API_KEY: 'canary-key-7f31' } })
  await server.executor.execute('echo', { text: `canary-key-7f31 ${'x'.repeat(100_000)}` })
  const all = server.mcp.messages('hostile')
  expect(all[0]).toMatchObject({ seq: 1, direction: 'sent', kind: 'request', method: 'initialize', id: 1 })
  const [{ seq = 0, id } = {}, received] = all.slice(-2)
  const response = { direction: 'received', kind: 'response', id, duration_ms: expect.any(Number) }
  expect(received).toMatchObject({ seq: seq + 1, ...response })
  expect(received?.bytes).toBeGreaterThan(100_000)
  expect(JSON.stringify(all)).not.toContain('canary-key-7f31')
  expect(JSON.stringify(received).length).toBeLessThan(20_000)
  expect(server.mcp.messages('hostile', { after: seq })).toEqual([received])
})

it('an upstream JSON-RPC error keeps its code and data', async () => {
  await using server = await startHostile()
  const data = { requiredCapabilities: { sampling: {} } }
  const error = { code: -32_021, message: 'Sampling is required', data }
  const raw = `{"jsonrpc":"2.0","id":$id,"error":${JSON.stringify(error)}}`
  expect(await server.executor.run({ name: 'answer', args: { raw } })).toMatchObject({
    code: 'tool_error',
    error: 'Sampling is required',
    diagnosis: { details: { rpc: { code: -32_021, data } } },
  })
})

it('a subscription that was refused after a restart can succeed later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-subscriptions-'))
  const refusesWhile = join(folder, 'refuse')
  const resources = [{ uri: 'x:one', name: 'one' }]
  await using server = await startServers({ one: offeringServer({ resources, refusesWhile }) })
  await server.mcp.catalog.follow('x:one')
  writeFileSync(refusesWhile, '')
  await server.mcp.restart('one')
  await server.log.logged('MCP connection problem')
  await expect(server.mcp.catalog.follow('x:one')).rejects.toThrow('Not now')
  rmSync(folder, { recursive: true })
  expect(await server.mcp.catalog.follow('x:one')).toBeTypeOf('function')
})
