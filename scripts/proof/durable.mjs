// Fault injection: workers, the gateway and PostgreSQL are killed during calls, a worker is frozen for longer than it may be
// silent, keys are used again for other arguments, and the link of one of two hosts is cut. Nothing may be lost, no write may
// happen twice, nobody may get the answer of another call, and an outcome that nobody can know must be reported as unknown.
//
//   npm run proof:durable                     2,000 calls, as in docs/durable.md
//   npm run proof:durable -- --calls 200 --every 2      a short run, with a worker killed every other second
//   npm run proof:durable -- --network        only the part with two hosts
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Hosts } from './hosts.mjs'
import { TestPostgres } from './postgres.mjs'
import { Gateway, Worker } from './processes.mjs'
import { failures, judge } from './verdict.mjs'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    every: { type: 'string', default: '1' },
    network: { type: 'boolean' },
    local: { type: 'boolean' },
  },
})
const IN_FLIGHT = 48
/** Longer than a worker may be silent (8 s). */
const FROZEN_MS = 10_000
const REUSE_EVERY = 20
const calls = Number(values.calls)
const everyMs = Number(values.every) * 1_000

let isFailed = false
if (!values.network) await proof('workers, gateway and PostgreSQL killed', killEverything, {})
if (!values.local) await withHosts()
process.exit(isFailed ? 1 : 0)

async function withHosts() {
  const hosts = Hosts.make()
  if (typeof hosts === 'string') return console.log(`Two hosts: skipped, ${hosts}`)
  try {
    await proof('two hosts, the link of one cut for 10 s', cutLink, { hosts })
  } finally {
    hosts.remove()
  }
}

async function proof(title, cause, { hosts }) {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-proof-'))
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const postgres = await TestPostgres.start(hosts && { address: hosts.address, network: hosts.network })
  const begun = performance.now()
  const workers = [1, 2, 3].map(number => {
    const host = hosts?.host(number)
    return new Worker([postgres.url(hosts?.address), ledger, `worker-${number}`], { prefix: host?.prefix })
  })
  const gateway = new Gateway([postgres.url()])
  let counts
  try {
    await Promise.all([gateway.ready, ...workers.map(worker => worker.ready)])
    const progress = { answered: 0 }
    const faults = { isOver: false }
    const causing = cause({ workers, gateway, postgres, hosts, progress, faults })
    const answers = await callAll(gateway, progress)
    faults.isOver = true
    await causing
    counts = {
      ...judge(answers, ledger),
      'workers killed': workers.reduce((sum, { kills }) => sum + kills, 0),
      'workers frozen': faults.frozen ?? 0,
      'gateway killed': gateway.kills,
      'PostgreSQL killed': faults.postgres ?? 0,
      'link cut, s': faults.cutSeconds ?? 0,
      'resent by the caller': gateway.resent,
      'refused while PostgreSQL was down': gateway.refused,
      seconds: Math.round((performance.now() - begun) / 1_000),
    }
  } finally {
    await Promise.all([gateway.stop(), ...workers.map(worker => worker.stop())])
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  report(title, { ...counts, 'processes left': processesWith(folder) + processesWith(postgres.folder) })
}

function processesWith(text) {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
  return all.split('\n').filter(line => line.includes(text)).length
}

async function callAll(gateway, progress) {
  const answers = []
  let next = 0
  const one = async () => {
    while (next < calls) {
      const number = next++
      const tool = number % 3 === 0 ? 'write' : 'read'
      const id = `call-${number}`
      const result = await Promise.race([gateway.call(id, tool), sleep(120_000, undefined, { ref: false })])
      progress.answered++
      const isReused = number % REUSE_EVERY === 0
      const reused = isReused ? await gateway.call(id, tool, { other: `${id}-other` }) : undefined
      answers.push({ id, tool, result, reused })
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, one))
  return answers
}

/** Kills a random live worker every second and every tenth of the calls, and freezes one; the gateway and PostgreSQL twice each, after every fifth of the calls. */
async function killEverything({ workers, gateway, postgres, progress, faults }) {
  const plan = ['gateway', 'postgres', 'gateway', 'postgres']
  faults.postgres = 0
  const [frozen, ...others] = workers
  faults.frozen = 1
  frozen.signal('SIGSTOP')
  const thawing = sleep(FROZEN_MS).then(() => frozen.signal('SIGCONT'))
  while (!faults.isOver) {
    const until = { time: performance.now() + everyMs, answered: progress.answered + calls / 10 }
    while (!faults.isOver && performance.now() < until.time && progress.answered < until.answered)
      await sleep(20)
    if (faults.isOver) break
    // There may be none, on a machine so busy that starting one takes longer than a second.
    const up = others.filter(({ isUp }) => isUp)
    up[Math.floor(Math.random() * up.length)]?.kill()
    if (progress.answered / calls < (5 - plan.length) / 5) continue
    const victim = plan.shift()
    if (victim === 'gateway') gateway.kill()
    if (victim !== 'postgres') continue
    faults.postgres++
    await postgres.kill()
    await sleep(500)
    await postgres.start()
  }
  await thawing
}

/** Cuts off the second host for ten seconds. */
async function cutLink({ hosts, progress, faults }) {
  while (progress.answered < calls / 5 && !faults.isOver) await sleep(20)
  hosts.host(3).cut()
  faults.cutSeconds = 10
  await sleep(10_000)
  hosts.host(3).mend()
}

function report(title, table) {
  const { otherFailures, ...rows } = table
  console.log(`\n${title}\n`)
  console.log('| what | count |\n|---|---|')
  for (const [name, value] of Object.entries(rows)) console.log(`| ${name} | ${value} |`)
  for (const text of otherFailures) console.log(`other failure: ${text}`)
  const wrong = failures(table)
  if (wrong.length > 0) console.log(`NOT as promised: ${wrong.join(', ')}`)
  isFailed ||= wrong.length > 0
}
