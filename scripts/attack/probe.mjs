// A caller beside the attack, in a process of its own: asks for /healthz and calls another tool, in turn.
import { Agent, request } from 'node:http'

const PERIOD_MS = 10
const url = new URL(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
let waits = []
let failures = 0
let turn = 0

/** Each is due at its time, whether or not the one before was answered: a freeze is felt by all that were due in it. */
setInterval(() => {
  const began = performance.now()
  const isCall = turn++ % 2 === 0
  const path = isCall ? '/api/tools/calm/call' : '/healthz'
  const options = { host: url.hostname, port: url.port, path, agent, method: isCall ? 'POST' : 'GET' }
  const asked = request({ ...options, headers: { 'content-type': 'application/json' } }, response => {
    response.resume().on('end', () => waits.push(performance.now() - began))
    if (response.statusCode !== 200) failures++
  })
  asked.on('error', () => failures++)
  asked.end(isCall ? '{}' : undefined)
}, PERIOD_MS)

// Whoever asked is gone.
process.on('disconnect', () => process.exit())
process.on('message', () => {
  const sorted = waits.sort((a, b) => a - b)
  const at = share => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  process.send({ count: sorted.length, failures, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 })
  waits = []
  failures = 0
})
