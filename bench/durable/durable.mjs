// What durability costs: the same call direct, durable in this process, and durable through a queue to another process,
// interleaved in one run; how a 100 ms tool scales from one worker to three; and what a worker costs that has
// nothing to do (`--idle`: only that).
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ToolExecutor } from 'toolpost'
import { createDurable } from 'toolpost-durable'
import { TestPostgres } from '../../scripts/proof/postgres.mjs'
import { benchTools, published } from './tools.mjs'

const CALLS = { 1: 300, 50: 1_500 }
const NAPS = 240

const postgres = await TestPostgres.start()
const children = []
const tools = benchTools()
const executor = new ToolExecutor(tools)
const durable = createDurable({ executor, databaseUrl: postgres.url(), pool: 'here', role: 'worker' })
durable.publish(published(tools))
try {
  await durable.ready()
  if (!process.argv.includes('--idle')) {
    await startWorker('queued', 256)
    await compare()
    await scale()
  }
  await idle()
} finally {
  await durable.close()
  await Promise.all(children.map(stop))
  await postgres.stop()
}

function lineReader(...args) {
  const script = fileURLToPath(new URL('worker.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, postgres.url(), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async () => (await lines.next()).value
}

async function startWorker(pool, concurrency) {
  const state = await lineReader(pool, String(concurrency))()
  if (state !== 'ready') throw new Error(`The worker is ${state}`)
  while (!durable.offers().some(offer => offer.pool === pool && offer.workers > 0)) await sleep(20)
  // DBOS checks for new queues once a second.
  await sleep(1_200)
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

async function compare() {
  const ways = {
    'direct, read': () => executor.run({ name: 'read', args: { x: 1 } }),
    'durable in-process, read': () => durable.run({ name: 'read', args: { x: 1 } }),
    'durable in-process, write': () => durable.run({ name: 'write', args: { x: 1 } }),
    'durable queued, read': () => durable.run({ name: 'read', args: { x: 1 } }, { pool: 'queued' }),
    'durable queued, write': () => durable.run({ name: 'write', args: { x: 1 } }, { pool: 'queued' }),
  }
  for (const way of Object.values(ways)) await measure(way, { parallel: 8, total: 100 })
  console.log('| call | parallel | p50, ms | p99, ms | calls/s |\n|---|---|---|---|---|')
  for (const parallel of [1, 50])
    for (const [name, way] of Object.entries(ways)) {
      const total = name.startsWith('direct') ? CALLS[parallel] * 20 : CALLS[parallel]
      const { p50, p99, perSecond } = await measure(way, { parallel, total })
      console.log(`| ${name} | ${parallel} | ${p50} | ${p99} | ${perSecond} |`)
    }
}

async function measure(way, { parallel, total }) {
  const times = []
  let left = total
  const begun = performance.now()
  const caller = async () => {
    while (left-- > 0) {
      const sent = performance.now()
      const result = await way()
      if (!result.success) throw new Error(result.error)
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: parallel }, caller))
  const seconds = (performance.now() - begun) / 1_000
  times.sort((a, b) => a - b)
  const at = share => shown(times[Math.min(times.length - 1, Math.floor(times.length * share))])
  return { p50: at(0.5), p99: at(0.99), perSecond: Math.round(total / seconds), seconds }
}

async function scale() {
  const nap = pool => () => durable.run({ name: 'nap', args: {} }, { pool })
  await startWorker('nappers', 4)
  const alone = await measure(nap('nappers'), { parallel: 64, total: NAPS })
  await startWorker('nappers', 4)
  await startWorker('nappers', 4)
  const three = await measure(nap('nappers'), { parallel: 64, total: NAPS * 3 })
  const factor = (three.perSecond / alone.perSecond).toFixed(2)
  console.log('\n| tool of 100 ms, 4 calls per worker in parallel | calls/s |\n|---|---|')
  console.log(`| one worker | ${alone.perSecond} |\n| three workers | ${three.perSecond} (${factor} ×) |`)
}

async function idle() {
  console.log('\n| a worker with nothing to do | share of a core |\n|---|---|')
  for (const servers of [0, 5, 50]) {
    const read = lineReader(`idle-${servers}`, '16', String(servers))
    await read()
    console.log(`| ${servers} servers with limits | ${await read()} % |`)
  }
}

function shown(milliseconds) {
  return milliseconds < 1 ? milliseconds.toFixed(3) : milliseconds.toFixed(1)
}
