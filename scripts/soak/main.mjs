// Mixed load while servers are killed: `npm run soak -- --minutes 10`. Servers count the writes they execute.
// Fails if an answered write is lost, a write is executed twice, or a call gets an unexpected answer.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { serveGateway } from 'toolpost/gateway'
import { openProject, stderrLogger } from 'toolpost/project'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    workers: { type: 'string', default: '16' },
    'kill-every': { type: 'string', default: '5' },
  },
})
const endAt = performance.now() + Number(values.minutes) * 60_000
const SERVERS = ['one', 'two', 'three']
const folder = mkdtempSync(join(tmpdir(), 'toolpost-soak-'))
const journalOf = server => join(folder, server)

const project = await openProject({
  file: configure(),
  logger: () => stderrLogger('silent'),
  say: () => {},
  model: { wanted: 'offline' },
})
await project.start()
const gateway = await serveGateway({ project, port: 0 })
const { executor } = project

const durations = []
const counts = { calls: 0, answeredWrites: 0, unknown: 0, unavailable: 0, kills: 0 }
const unexpected = new Map()
/** By server: every write that was answered as successful. */
const written = new Map(SERVERS.map(server => [server, []]))
let serial = 0

const before = vitals()
const killer = setInterval(kill, Number(values['kill-every']) * 1_000)
const reporter = setInterval(() => console.log(line()), 30_000)
await Promise.all(Array.from({ length: Number(values.workers) }, work))
clearInterval(killer)
clearInterval(reporter)
const after = vitals()
const { lost, doubled } = audit()
await gateway.close()
await project.close()
rmSync(folder, { recursive: true })

console.log(line())
for (const [what, count] of unexpected) console.log(`unexpected, ${count} times: ${what}`)
console.log(
  `memory ${before.rssMb} → ${after.rssMb} MB, handles ${before.handles} → ${after.handles}, ` +
    `p50 ${percentile(50)} ms, p99 ${percentile(99)} ms`,
)
const failed = lost + doubled + unexpected.size
console.log(
  `Soak: lost ${lost}, doubled ${doubled}, unexpected ${[...unexpected.values()].reduce((a, b) => a + b, 0)}`,
)
process.exit(failed > 0 ? 1 : 0)

function configure() {
  const server = fileURLToPath(new URL('counting-server.mjs', import.meta.url))
  const mcpServers = Object.fromEntries(
    SERVERS.map(name => [name, { command: process.execPath, args: [server, journalOf(name)] }]),
  )
  for (const name of SERVERS) writeFileSync(journalOf(name), '')
  const file = join(folder, 'toolpost.json')
  writeFileSync(file, JSON.stringify({ mcpServers }))
  return file
}

async function work() {
  while (performance.now() < endAt) {
    const act = pick([write, write, overHttp, read, read, calculate, wrong, missing, cancelled])
    const startedAt = performance.now()
    await act()
    counts.calls++
    if (durations.length < 1_000_000) durations.push(performance.now() - startedAt)
  }
}

async function write() {
  const { server, tool, n } = target('write')
  judgeWrite(server, n, await executor.run({ name: tool, args: { n } }))
}

async function overHttp() {
  const { server, tool, n } = target('write')
  const headers = { 'content-type': 'application/json' }
  const url = `${gateway.url}api/tools/${tool}/call`
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ n }) })
  judgeWrite(server, n, await response.json())
}

async function read() {
  const { tool, n } = target('read')
  const result = await executor.run({ name: tool, args: { n } })
  if (result.success ? result.result === String(n) : result.code === 'unavailable') return
  note(result)
}

async function calculate() {
  const result = await executor.run({ name: 'math_eval', args: { expression: '12 % of 85' } })
  if (!result.success || result.result.result !== 10.2) note(result)
}

async function wrong() {
  const result = await executor.run({ name: target('write').tool, args: { n: 'many' } })
  if (result.code !== 'invalid_arguments') note(result)
}

async function missing() {
  const result = await executor.run({ name: 'no_such_tool', args: {} })
  if (result.code !== 'unknown_tool') note(result)
}

async function cancelled() {
  const result = await executor.run(
    { name: target('read').tool, args: { n: 1 } },
    { signal: AbortSignal.abort() },
  )
  if (result.code !== 'cancelled') note(result)
}

function target(kind) {
  const server = pick(SERVERS)
  const isFirst = server === SERVERS[0]
  return { server, tool: isFirst ? kind : `${server}__${kind}`, n: ++serial }
}

function judgeWrite(server, n, result) {
  if (result.success) {
    written.get(server).push(n)
    counts.answeredWrites++
  } else if (result.code !== 'unavailable') note(result)
  else if (result.error.includes('outcome of the call is unknown')) counts.unknown++
  else counts.unavailable++
}

function note(result) {
  const what = `${result.code ?? 'success'}: ${result.error ?? JSON.stringify(result.result)}`.slice(0, 200)
  unexpected.set(what, (unexpected.get(what) ?? 0) + 1)
}

function kill() {
  const { pid } = pick(project.status().servers.filter(({ state }) => state === 'ready')) ?? {}
  if (pid === undefined) return
  counts.kills++
  process.kill(pid, 'SIGKILL')
}

function audit() {
  let lost = 0
  let doubled = 0
  for (const server of SERVERS) {
    const times = new Map()
    for (const n of readFileSync(journalOf(server), 'utf8').split('\n')) times.set(n, (times.get(n) ?? 0) + 1)
    times.delete('')
    lost += written.get(server).filter(n => !times.has(String(n))).length
    doubled += [...times.values()].filter(count => count > 1).length
  }
  return { lost, doubled }
}

function vitals() {
  globalThis.gc?.()
  return {
    rssMb: Math.round(process.memoryUsage().rss / 1024 / 1024),
    handles: process.getActiveResourcesInfo().length,
  }
}

function line() {
  const { calls, answeredWrites, unknown, unavailable, kills } = counts
  return `${calls} calls, ${answeredWrites} writes, ${kills} kills, ${unavailable} unavailable, ${unknown} outcome unknown`
}

function percentile(percent) {
  const sorted = durations.toSorted((a, b) => a - b)
  return (sorted[Math.floor((sorted.length * percent) / 100)] ?? 0).toFixed(1)
}

function pick(list) {
  return list[Math.floor(Math.random() * list.length)]
}
