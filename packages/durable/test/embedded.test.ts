import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { afterAll, expect, it } from 'vitest'
import { createDurable } from '../src/index.ts'
import { createEmbedded } from '../src/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-embedded-'))
// As root, PostgreSQL runs as another user, who has to get there.
chmodSync(folder, 0o755)
const dataDir = join(folder, '.toolpost', 'postgres')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function open() {
  const notices: string[] = []
  const tools = new ToolManager()
  const ping = { name: 'ping', description: 'Pings', schema: { type: 'object' }, handler: () => 'pong' }
  tools.addCustomTool(defineTool(ping))
  const onNotice = (notice: string) => notices.push(notice)
  const durable = createDurable({ executor: new ToolExecutor(tools), dataDir, onNotice })
  return { durable, notices }
}

it('[F67] creates a PostgreSQL once, finds it running, starts it again if it is killed, and keeps its data', {
  timeout: 90_000,
}, async () => {
  const first = open()
  await first.durable.ready()
  expect(first.durable.status()).toEqual({ state: 'ready', text: expect.stringContaining('(embedded)') })
  expect(first.notices).toEqual([expect.stringContaining('Creating PostgreSQL in')])
  const { run_id } = await first.durable.run({ name: 'ping' })

  const pidFile = join(dataDir, 'postmaster.pid')
  const pid = readFileSync(pidFile, 'utf8').split('\n')[0]
  const found = createEmbedded(dataDir)
  const { port } = await found.start()
  expect(readFileSync(pidFile, 'utf8').split('\n')[0]).toBe(pid)
  expect(first.durable.status().text).toContain(`127.0.0.1:${port}`)
  // Whoever started it stops it.
  await found.stop()
  expect(existsSync(pidFile)).toBe(true)
  process.kill(Number(pid), 'SIGKILL')
  await expect.poll(() => first.durable.status().state, { timeout: 30_000 }).toBe('lost')
  await expect.poll(() => first.durable.status().state, { timeout: 60_000 }).toBe('ready')
  expect(await first.durable.run({ name: 'ping' })).toMatchObject({ success: true })
  await first.durable.close()
  await expect.poll(() => existsSync(pidFile), { timeout: 30_000 }).toBe(false)

  const second = open()
  await second.durable.ready()
  expect(second.notices).toEqual([])
  expect(await second.durable.get(run_id ?? '')).toMatchObject({ tool: 'ping', state: 'done' })
  await second.durable.close()
})

it('leaves data of another major version unchanged, and says so', async () => {
  writeFileSync(join(dataDir, 'PG_VERSION'), '12\n')
  const { durable } = open()
  await durable.ready()
  expect(durable.status()).toEqual({
    state: 'failed',
    text: expect.stringMatching(/could not be started: .*initialized by PostgreSQL version 12/),
  })
  await durable.close()
  expect(readFileSync(join(dataDir, 'PG_VERSION'), 'utf8')).toBe('12\n')
})
