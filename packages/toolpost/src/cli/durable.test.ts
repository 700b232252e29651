import type { ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { consoleLine } from '../../test/console-line.ts'
import { dataOf } from '../../test/gateway.ts'

const { folder, configFile, toolpost, start } = commandLine()
const PATIENCE = { interval: 25, timeout: 30_000 }
const SLOW = 90_000
vi.setConfig({ testTimeout: SLOW })

const ledgerFile = join(folder, 'ledger')
const ledger = () => (existsSync(ledgerFile) ? readFileSync(ledgerFile, 'utf8').split('\n').slice(0, -1) : [])
const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../../test/ledger-server.mjs', import.meta.url)), ledgerFile],
}
const base = { model: 'offline', history: false, approvals: { timeoutMs: 86_400_000 } }
/** A gateway that is a worker, and a worker of another pool with a server that the gateway has not. */
const gatewayConfig = configFile({
  ...base,
  durable: { tools: ['named'] },
  policy: [{ tools: 'asked', then: 'ask', because: 'it matters' }],
  tools: ['named', 'asked'].map(name => ({
    name,
    description: `Answers for ${name}`,
    implementation: { type: 'mock', mock_response: `${name} done` },
  })),
  mcpServers: {},
})
const workerConfig = configFile({ ...base, durable: { pool: 'home' }, mcpServers: { ledger: server } })

const started: ChildProcess[] = []

/** Starts a command that stays, and waits until it has said `word`. */
async function stay(words: string[], word: string) {
  const { child, out, err, exit } = start(words)
  started.push(child)
  const said = () => out() + err()
  await vi.waitFor(() => expect(said()).toContain(word), PATIENCE)
  return { child, exit, said }
}

const startGateway = async () => {
  const gateway = await stay(['up', '--config', gatewayConfig, '--port', '0'], '✔ durable')
  return { ...gateway, ...consoleLine(gateway.said()) }
}
const startWorker = () => stay(['worker', '--config', workerConfig], 'Press Ctrl-C')

let gateway: Awaited<ReturnType<typeof startGateway>>
let worker: Awaited<ReturnType<typeof startWorker>>

const ask = (path: string, init: RequestInit = {}) => gateway.ask(path, init)
const call = (tool: string, args: object = {}, headers: Record<string, string> = {}) =>
  ask(`api/tools/${tool}/call`, { method: 'POST', body: JSON.stringify(args), headers })
const command = (words: string[]) => toolpost([...words, '--config', gatewayConfig])

describe('durable calls, with the real engine and PostgreSQL', () => {
  beforeAll(async () => {
    // As root, PostgreSQL runs as another user, who has to get there.
    chmodSync(folder, 0o755)
    gateway = await startGateway()
    worker = await startWorker()
    await vi.waitFor(
      async () => expect(JSON.stringify(await dataOf(ask('api/tools')))).toContain('"note"'),
      PATIENCE,
    )
  }, SLOW)
  afterAll(async () => {
    for (const child of started) child.kill('SIGTERM')
    await Promise.all([gateway?.exit, worker?.exit])
  }, SLOW)

  it('run once for one key, over HTTP and from the command line', async () => {
    const headers = { 'idempotency-key': 'order-1' }
    const first = await dataOf(call('note', { text: 'one' }, headers))
    expect(first).toMatchObject({ success: true, result: 'note: one', run_id: expect.any(String) })
    expect(await dataOf(call('note', { text: 'one' }, headers))).toMatchObject({ run_id: first.run_id })
    expect((await call('note', { text: 'two' }, headers)).status).toBe(422)
    expect(ledger()).toEqual(['note one'])
    const [a, b] = await Promise.all(
      [1, 2].map(() => command(['call', 'named', '--key', 'k', '--json']).then(({ out }) => JSON.parse(out))),
    )
    expect(a).toMatchObject({ success: true, result: 'named done', run_id: b.run_id })
    expect(await dataOf(call('named'))).toMatchObject({ result: 'named done', run_id: expect.any(String) })
  })

  it('are listed, shown and counted by toolpost runs, workers and doctor', async () => {
    const [list, workers, doctor, wrong] = await Promise.all([
      command(['runs', '--json']),
      command(['workers']),
      command(['doctor']),
      command(['runs', 'no-such-run', '--cancel']),
    ])
    const notes = JSON.parse(list.out).filter(({ tool }: { tool: string }) => tool === 'note')
    expect(notes.map(({ state }: { state: string }) => state)).toEqual(['done'])
    expect(workers.out).toMatch(/ home +worker +live .*look, math_eval, note/)
    expect(workers.out).toMatch(/ default +worker +live /)
    expect(doctor).toMatchObject({ code: 0, out: expect.stringContaining('✔ durable ') })
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("there is no run 'no-such-run'") })
  })

  it('[F60] of a write are never repeated when their worker is killed, and say that the outcome is unknown', async () => {
    const answer = dataOf(
      call('note', { text: 'killed', gate: join(folder, 'never') }, { 'idempotency-key': 'killed' }),
    )
    await expect.poll(ledger, PATIENCE).toContain('note killed')
    worker.child.kill('SIGKILL')
    await worker.exit
    // Also the call that was accepted before anybody knew.
    expect(await dataOf(call('look'))).toMatchObject({
      code: 'unavailable',
      error: expect.stringMatching(/no worker of pool 'home' runs it, since \d{4}-/),
    })
    const known = { 'idempotency-key': 'order-1' }
    expect(await dataOf(call('note', { text: 'one' }, known))).toMatchObject({ result: 'note: one' })
    expect((await call('note', {}, { 'idempotency-key': 'new' })).status).toBe(503)
    worker = await startWorker()
    expect(await answer).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining('the outcome of the call is unknown'),
    })
    expect(ledger().filter(line => line === 'note killed')).toHaveLength(1)
  })

  it('[F53] wait for approval over the death of the gateway, and are decided at the next one', async () => {
    const accepted = await dataOf(call('asked', {}, { prefer: 'respond-async' }))
    await expect
      .poll(() => dataOf(ask('api/approvals')), PATIENCE)
      .toMatchObject({
        approvals: [{ tool: 'asked', because: 'it matters' }],
      })
    expect(await dataOf(ask(`api/runs/${accepted.id}`))).toMatchObject({ state: 'approval' })
    gateway.child.kill('SIGKILL')
    await gateway.exit
    gateway = await startGateway()
    await expect.poll(async () => (await dataOf(ask('api/approvals'))).approvals.length, PATIENCE).toBe(1)
    const { approvals } = await dataOf(ask('api/approvals'))
    await ask(`api/approvals/${approvals[0].id}`, { method: 'POST', body: '{"decision":"approve"}' })
    await expect
      .poll(() => dataOf(ask(`api/runs/${accepted.id}`)), PATIENCE)
      .toMatchObject({ state: 'done', result: { success: true, result: 'asked done' } })
  })
})

describe('what is wrong with durable calls', () => {
  const at = (databaseUrl: string) => configFile({ ...base, durable: { databaseUrl }, mcpServers: {} })

  it('is said before anything is started, exit 2, without the password', async () => {
    const [wrong, refused, off] = await Promise.all([
      toolpost(['worker', '--config', at('mysql://u:hunter22@db/x')]),
      toolpost(['worker', '--config', at('postgres://u:hunter22@127.0.0.1:1/x')]),
      toolpost(['runs', '--config', configFile({ mcpServers: {} })]),
    ])
    expect([wrong, refused, off].map(({ code }) => code)).toEqual([2, 2, 2])
    expect(wrong.err).toContain('durable.databaseUrl: expected a PostgreSQL URL')
    expect(refused.err).toContain('127.0.0.1:1')
    expect(off.err).toContain('Durable calls are off: set "durable"')
    expect([wrong, refused].map(({ out, err }) => out + err).join('')).not.toContain('hunter22')
  })
})
