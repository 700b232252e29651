// Measures the built package: from start to the first answered tools/list, and from a switch command to its confirmation.
// npm run bench:zwave [-- starts switches]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startHome } from '../../packages/zwave-mcp-server/dist/home/index.js'

const STARTS = Number(process.argv[2] ?? 10)
const SWITCHES = Number(process.argv[3] ?? 200)
const program = fileURLToPath(
  new URL('../../packages/zwave-mcp-server/bin/zwave-mcp-server.js', import.meta.url),
)

const empty = await repeat(STARTS, startEmptyNode)
const { url, close } = await startHome({ delayMs: 0 })
const starts = await repeat(STARTS, async () => {
  const server = startServer(url)
  await initialize(server)
  await server.request('tools/list')
  const took = server.age()
  await server.stop()
  return took
})
const switches = await measureSwitches(url)
await close()

report('empty node', empty)
report('start to first answered tools/list', starts)
report('confirmed switch over loopback', switches)

async function measureSwitches(brokerUrl) {
  const server = startServer(brokerUrl)
  await initialize(server)
  await server.request('tools/call', { name: 'list_zwave_devices', arguments: {} })
  let on = false
  const times = await repeat(SWITCHES, async () => {
    on = !on
    const startedAt = performance.now()
    const args = { deviceName: 'Switch One', action: on ? 'on' : 'off' }
    const { structuredContent } = await server.request('tools/call', {
      name: 'control_zwave_device',
      arguments: args,
    })
    if (!structuredContent?.confirmed) throw new Error('a switch was not confirmed')
    return performance.now() - startedAt
  })
  await server.stop()
  return times
}

async function initialize(server) {
  const clientInfo = { name: 'bench', version: '1' }
  await server.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  server.write({ method: 'notifications/initialized' })
}

function startServer(brokerUrl) {
  const startedAt = performance.now()
  const env = { ...process.env, MQTT_BROKER_URL: brokerUrl, ZWAVE_LOG_LEVEL: 'silent' }
  const child = spawn(process.execPath, [program], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', line => {
    const { id, result } = JSON.parse(line)
    waiting.get(id)?.(result)
  })
  const write = message => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = (method, params = {}) =>
    new Promise(resolve => {
      const id = waiting.size + 1
      waiting.set(id, resolve)
      write({ id, method, params })
    })
  const stop = async () => {
    child.stdin.end()
    await once(child, 'exit')
  }
  return { write, request, stop, age: () => performance.now() - startedAt }
}

async function startEmptyNode() {
  const startedAt = performance.now()
  await once(spawn(process.execPath, ['-e', '']), 'exit')
  return performance.now() - startedAt
}

async function repeat(times, action) {
  const results = []
  for (let i = 0; i < times; i++) results.push(await action())
  return results.sort((a, b) => a - b)
}

function report(name, sorted) {
  const at = share =>
    `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)} ms`
  process.stdout.write(
    `${name.padEnd(36)} median ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)} (${sorted.length} times)\n`,
  )
}
