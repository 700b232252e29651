import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const command = fileURLToPath(new URL('../../toolpost/bin/toolpost.cjs', import.meta.url))

/** `toolpost up` in a temporary folder, with some calls made and an MCP client that can make more. */
export async function startProduct() {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-screenshots-'))
  const env = { ...process.env, OLLAMA_HOST: '127.0.0.1:9', ANTHROPIC_API_KEY: '' }
  const child = spawn(process.execPath, [command, 'up', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const url = await addressOf(child)
  const product = { url, call: (tool, args) => callTool(url, tool, args), assistant: await assistantAt(url) }
  await makeCalls(product)
  return {
    ...product,
    async stop() {
      await product.assistant.close().catch(() => {})
      child.kill('SIGTERM')
      await new Promise(resolve => child.once('exit', resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function addressOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Console {2}(\S+)$/.exec(line) ?? []
    if (url) return url
  }
  throw new Error('toolpost up exited without printing its address')
}

async function callTool(url, tool, args) {
  const response = await fetch(new URL(`api/tools/${tool}/call`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(args),
  })
  return response.json()
}

async function assistantAt(url) {
  const client = new Client({ name: 'assistant', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('mcp', url)))
  return client
}

/** A bit of everything, including failures. */
async function makeCalls({ url, call, assistant }) {
  await ready(url)
  const lights = ['Living Room Light', 'Porch Light', 'Demo Switch']
  for (const [at, deviceName] of lights.entries()) {
    await call('control_zwave_device', { deviceName, action: at === 2 ? 'off' : 'on' })
    await call('math_eval', { expression: `sqrt(${at + 3}^2 + 4^2)` })
    await call('datetime', { timezone: ['Tokyo', 'Vienna', 'New York'][at] })
    await assistant.callTool({ name: 'get_device_sensor_data', arguments: { deviceName } })
  }
  await call('list_zwave_devices', {})
  await call('math_eval', { expression: '1 +' })
  await call('get_device_sensor_data', { deviceName: 'Kichen Light' })
}

async function ready(url) {
  for (let time = 0; time < 200; time += 1) {
    const { servers } = await (await fetch(new URL('api/servers', url))).json()
    if (servers.every(({ state }) => state === 'ready')) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
