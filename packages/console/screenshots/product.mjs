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
  const env = { ...process.env, TOOLPOST_TOKEN: '', OLLAMA_HOST: '127.0.0.1:9', ANTHROPIC_API_KEY: '' }
  const child = spawn(process.execPath, [command, 'up', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const address = await addressOf(child)
  const [url, token] = address.split('#token=')
  const headers = { authorization: `Bearer ${decodeURIComponent(token)}` }
  const ask = (path, init = {}) =>
    fetch(new URL(path, url), { ...init, headers: { ...headers, ...init.headers } })
  const product = {
    url,
    /** The address of the console, with the token. */
    console: address,
    ask,
    call: (tool, args) => callTool(ask, tool, args),
    assistant: await assistantAt(url, headers),
  }
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
    const [, address] = /^Console {2}(\S+)$/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('toolpost up exited without printing its address')
}

async function callTool(ask, tool, args) {
  const response = await ask(`api/tools/${tool}/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(args),
  })
  return response.json()
}

async function assistantAt(url, headers) {
  const client = new Client({ name: 'assistant', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('mcp', url), { requestInit: { headers } }))
  return client
}

/** A bit of everything, including failures. */
async function makeCalls({ ask, call, assistant }) {
  await ready(ask)
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

async function ready(ask) {
  for (let time = 0; time < 200; time += 1) {
    const { servers } = await (await ask('api/servers')).json()
    if (servers.every(({ state }) => state === 'ready')) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
