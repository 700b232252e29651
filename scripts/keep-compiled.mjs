// Runs every bundled program once and caches the code it compiled. Without the cache, everything works but starts slower.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const TIMEOUT_MS = 30_000
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'build', version: '1' } },
}
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

/** Node 22 and later cache compiled code themselves. */
export async function keepCompiled(root) {
  if (module.enableCompileCache) return
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-build-'))
  const started = []
  const start = (bundle, words, env) => {
    const program = startKeeping({ root, bundle, words, env, folder })
    started.push(program)
    return program
  }
  try {
    // With what most folders have, so that the code for it is cached, too.
    const usual = {
      mcpServers: { unused: { command: 'node' } },
      policy: [{ tools: 'x', then: 'deny' }],
      history: {},
    }
    writeFileSync(join(folder, 'toolpost.json'), JSON.stringify(usual))
    await start('toolpost/dist/cli.cjs', ['call', 'echo', 'x=1']).end
    const home = start('zwave-mcp-server/dist/zwave-home.cjs', ['--virtual-home'])
    const { url } = JSON.parse(await home.says(/^\{.*\}$/m))
    await useServer(start('zwave-mcp-server/dist/zwave-mcp-server.cjs', [], { MQTT_BROKER_URL: url }))
    writeFileSync(join(folder, 'toolpost.json'), JSON.stringify(configuration(root, url)))
    await useGateway(start('toolpost/dist/cli-large.cjs', ['up', '--port', '0']))
    await stop(home)
  } catch (error) {
    process.stderr.write(`Compiled code was not kept, programs start slower: ${error.message}\n`)
  } finally {
    await Promise.all(started.map(stop))
    rmSync(folder, { recursive: true, force: true })
  }
}

function configuration(root, url) {
  const server = join(root, 'packages/zwave-mcp-server/bin/zwave-mcp-server.js')
  const home = { command: process.execPath, args: [server], env: { MQTT_BROKER_URL: url } }
  return { model: 'offline', mcpServers: { home } }
}

async function useServer({ child, says, end }) {
  for (const message of [HELLO, LIST]) child.stdin.write(`${JSON.stringify(message)}\n`)
  await says(/"id":2/)
  child.stdin.end()
  await end
}

/** Over HTTP and MCP, so that the code `serve` needs is cached too. */
async function useGateway({ child, says, end }) {
  const [address, token = ''] = (await says(/(?<=^Console +)\S+/m)).split('#token=')
  const authorization = `Bearer ${decodeURIComponent(token)}`
  const post = async (path, body, more) => {
    const headers = { authorization, ...more }
    const answer = await fetch(new URL(path, address), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${text}`)
  }
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  await post('api/tools/echo/call', { x: 1 })
  await post('mcp', HELLO, accept)
  await stop({ child, end })
}

function stop({ child, end }) {
  child.kill('SIGTERM')
  return end
}

function startKeeping({ root, bundle, words, env, folder }) {
  const runner = join(root, 'scripts/run-keeping.cjs')
  const child = spawn(process.execPath, [runner, join(root, 'packages', bundle), ...words], {
    cwd: folder,
    env: { ...process.env, TOOLPOST_TOKEN: '', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    said += chunk
  })
  const end = once(child, 'exit')
  /** Resolves with the first match in its stdout. */
  const says = async pattern => {
    for (;;) {
      const [found] = pattern.exec(said) ?? []
      if (found !== undefined) return found
      await Promise.race([
        once(child.stdout, 'data'),
        end.then(() => Promise.reject(new Error(`${bundle} ended early`))),
      ])
    }
  }
  return { child, says, end }
}
