// Runs every case on a driver that is wrong on purpose, and exits with 1 if one of them does not notice.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = name => fileURLToPath(new URL(name, import.meta.url))
const ids = JSON.parse(readFileSync(path('../cases.json'), 'utf8')).map(({ id }) => id)
const breaks = JSON.parse(readFileSync(path('breaks.json'), 'utf8'))
const JOBS = 3
const only = process.argv.slice(2)

async function check(id) {
  const how = breaks[id]
  if (!how) return `${id}: nothing breaks it`
  const args = [
    path('../bin/toolpost-proof.js'),
    'run',
    '--driver',
    path('broken.mjs'),
    '--only',
    id,
    '--json',
  ]
  const options = { env: { ...process.env, BREAK: how }, timeout: 120_000 }
  const stdout = await new Promise(resolve =>
    execFile(process.execPath, args, options, (_, text) => resolve(text)),
  )
  const [{ verdicts }] = JSON.parse(stdout)
  const [{ state, seen = '' }] = verdicts
  process.stdout.write(`${id}  ${how}  ${state}: ${seen.slice(0, 160)}\n`)
  return state === 'failed' ? undefined : `${id}: ${state} although the driver is broken (${how})`
}

const queue = ids.filter(id => only.length === 0 || only.some(name => id.startsWith(name)))
const missed = []
const worker = async () => {
  for (let id = queue.shift(); id; id = queue.shift()) {
    const problem = await check(id).catch(error => `${id}: ${error.message}`)
    if (problem) missed.push(problem)
  }
}
await Promise.all(Array.from({ length: JOBS }, worker))
for (const problem of missed) process.stderr.write(`${problem}\n`)
process.stderr.write(
  missed.length === 0 ? 'Every case noticed.\n' : `${missed.length} cases did not notice.\n`,
)
process.exitCode = missed.length === 0 ? 0 : 1
