// A caller that is not attacked, in a separate process: requests /healthz and calls another tool, in turn.
import { Agent, request } from 'node:http'
import { waitedMs } from './processors.mjs'

const PERIOD_MS = 10
const url = new URL(process.argv[2])
const gateway = Number(process.argv[3])
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
let waits = []
/** Excludes time during which the gateway or this process waited for a CPU. */
let ownWaits = []
let failures = 0
let turn = 0

/** Requests are sent on schedule, whether or not the previous one was answered: a freeze delays all that fall into it. */
setInterval(() => {
  const began = performance.now()
  const before = [waitedMs(gateway), waitedMs()]
  const isCall = turn++ % 2 === 0
  const path = isCall ? '/api/tools/calm/call' : '/healthz'
  const options = { host: url.hostname, port: url.port, path, agent, method: isCall ? 'POST' : 'GET' }
  const asked = request({ ...options, headers: { 'content-type': 'application/json' } }, response => {
    response.resume().on('end', () => {
      const took = performance.now() - began
      waits.push(took)
      // Their waits overlap.
      const starved = Math.max(waitedMs(gateway) - before[0], waitedMs() - before[1], 0)
      ownWaits.push(Math.max(0, took - starved))
    })
    if (response.statusCode !== 200) failures++
  })
  asked.on('error', () => failures++)
  asked.end(isCall ? '{}' : undefined)
}, PERIOD_MS)

// The parent is gone.
process.on('disconnect', () => process.exit())
process.on('message', () => {
  const figures = figuresOf(waits)
  process.send({ count: waits.length, failures, ...figures, own: figuresOf(ownWaits) })
  waits = []
  ownWaits = []
  failures = 0
})

function figuresOf(times) {
  const sorted = times.sort((a, b) => a - b)
  const at = share => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
