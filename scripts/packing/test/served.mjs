// `toolpost up` and `serve --stdio` as installed: console, chat, example home, health, durable calls, a real MCP client.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { environment } from './project.mjs'
import { healthCheck, startService, stopService } from './service.mjs'

const TOKEN = 'packed-test-token-0123456789'
const json = body => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

export async function upServes(folder) {
  const data = volume(folder, 'data')
  const service = await startService(folder, data, { token: TOKEN })
  try {
    const page = await (await service.fetch('/')).text()
    const [, script] = /<script[^>]+src="([^"]+)"/.exec(page) ?? []
    assert.ok(script, `The console's page has a script:\n${page}`)
    assert.equal((await service.fetch(new URL(script, `${service.url}/`).pathname)).status, 200)
    assert.equal((await fetch(`${service.url}/api/tools`)).status, 401)
    const home = await service.fetch(
      '/api/tools/control_zwave_device/call',
      json({ deviceName: 'Switch One', action: 'on' }),
    )
    assert.equal((await home.json()).result.state, 'on')
    const chat = await (
      await service.fetch('/api/chat', json({ message: 'dim the living room light to thirty percent' }))
    ).text()
    assert.match(chat, /Living Room Light is dimmed to 30 %/)
    const { calls } = await (await service.fetch('/api/calls')).json()
    assert.equal(calls.filter(({ tool }) => tool === 'control_zwave_device').length, 2)
    assert.equal(await healthCheck(folder, service), 0)
  } finally {
    await stopService(service)
  }
  assert.equal(await healthCheck(folder, service), 1, 'the health check fails once it is gone')
  return 'console, chat, home, health check, SIGTERM'
}

export async function durableCalls(folder) {
  const data = volume(folder, 'durable-data')
  writeFileSync(join(data, 'toolpost.json'), '{ "durable": true, "history": false }\n')
  const service = await startService(folder, data, { token: TOKEN })
  try {
    const call = async () => {
      const options = json({ hello: 'world' })
      const headers = { ...options.headers, 'idempotency-key': 'once' }
      return (await service.fetch('/api/tools/echo/call', { ...options, headers })).json()
    }
    const [first, second] = [await call(), await call()]
    assert.equal(first.success, true, JSON.stringify(first))
    assert.ok(first.run_id)
    assert.equal(second.run_id, first.run_id)
  } finally {
    await stopService(service)
  }
  return 'one key, one run'
}

export async function stdioClient(folder) {
  const require = createRequire(join(folder, 'package.json'))
  const load = name => import(pathToFileURL(require.resolve(name)).href)
  const [{ Client }, { StdioClientTransport }] = [
    await load('@modelcontextprotocol/client'),
    await load('@modelcontextprotocol/client/stdio'),
  ]
  const transport = new StdioClientTransport({
    command: 'npx',
    args: ['toolpost', 'serve', '--stdio'],
    cwd: folder,
    env: environment,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'packed-test', version: '1.0.0' })
  await client.connect(transport)
  try {
    const { content } = await client.callTool({ name: 'echo', arguments: { hello: 'world' } })
    assert.match(content[0].text, /world/)
    return `${(await client.listTools()).tools.length} tools listed`
  } finally {
    await client.close()
  }
}

function volume(folder, name) {
  const data = join(folder, name)
  mkdirSync(data, { recursive: true })
  return data
}
