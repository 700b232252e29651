import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration } from 'toolpost/mcp'
import { Ledger } from '../../packages/proof/dist/ledger.js'

const id = fc.constant('$id')
const params = fc.jsonValue({ maxDepth: 3 })
const method = fc.constantFrom(
  'ping',
  'notifications/progress',
  'notifications/tools/list_changed',
  'notifications/message',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'nonsense',
)
const message = fc
  .oneof(
    fc.record({ id: fc.oneof(id, fc.jsonValue()) }),
    fc.record({ method, params, id: fc.option(fc.jsonValue({ maxDepth: 0 }), { nil: undefined }) }),
    fc.record({ id, result: fc.jsonValue({ maxDepth: 4 }) }),
    fc.record({ id, error: fc.jsonValue({ maxDepth: 2 }) }),
  )
  .map(fields => JSON.stringify({ jsonrpc: '2.0', ...fields }))
const junk = fc.oneof(fc.string({ maxLength: 200, unit: 'binary' }), fc.json({ maxDepth: 4 }), message)
const sse = fc.array(fc.constantFrom('data: ', 'event: message', 'id: 1', '\n', '\n\n', '{', '}', 'retry: 0'))

/** The misbehaving server of `packages/proof` answers with fuzzed bytes; after each, an ordinary call must work. */
function target(name, raw, start) {
  return {
    name,
    inputs: raw,
    async setUp() {
      const folder = mkdtempSync(join(tmpdir(), 'toolpost-fuzz-'))
      const server = await start(join(folder, 'ledger'))
      const tools = new ToolManager()
      const mcp = new McpIntegration({ servers: { hostile: server.entry } })
      mcp.start(tools)
      await mcp.ready()
      return { folder, mcp, server, executor: new ToolExecutor(tools, { timeoutMs: 10_000 }) }
    },
    async check(args, { executor }) {
      const call = { name: 'misbehave', args: { key: 'fuzz', kind: 'raw', ...args } }
      const answer = await executor.run(call, { timeoutMs: 50 })
      if (typeof answer.success !== 'boolean') throw new Error('no result')
      await worksAgain(executor)
    },
    async tearDown({ folder, mcp, server }) {
      await mcp.close()
      server.stop?.()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Reconnecting after a lost connection takes a moment. */
async function worksAgain(executor) {
  const giveUpAt = performance.now() + 10_000
  for (;;) {
    const after = await executor.run({ name: 'repeat', args: { key: 'alive' } })
    if (after.success && after.result === 'alive') return
    if (after.code !== 'unavailable' || performance.now() > giveUpAt)
      throw new Error(`broken afterwards: ${after.error}`)
    await delay(20)
  }
}

const SERVER = fileURLToPath(new URL('../../packages/proof/dist/server/main.js', import.meta.url))
function command(settings) {
  const all = { faults: {}, prefix: '', trapUrl: '', ...settings }
  return { command: process.execPath, args: [SERVER, JSON.stringify(all)] }
}

const lines = fc.array(junk, { minLength: 1, maxLength: 5 }).map(all => `${all.join('\n')}\n`)
export const stdioTarget = target('stdio-server', fc.record({ raw: lines }), async ledger => ({
  entry: command({ ledger }),
}))

const events = fc.oneof(
  lines,
  sse.map(parts => parts.join('')),
  message.map(text => `data: ${text}\n\n`),
)
const status = fc.constantFrom(200, 202, 204, 302, 400, 401, 403, 404, 409, 410, 429, 500, 502, 503)
const type = fc.constantFrom('application/json', 'text/event-stream', 'text/html', 'nonsense')
export const httpTarget = target('http-server', fc.record({ raw: events, status, type }), async ledger => {
  const { command: node, args } = command({ ledger, port: 0 })
  const child = spawn(node, args, { stdio: 'ignore' })
  const started = await new Ledger(ledger).wait('start', undefined, 30_000)
  return { entry: { url: `http://127.0.0.1:${started?.detail}/mcp` }, stop: () => child.kill('SIGKILL') }
})
