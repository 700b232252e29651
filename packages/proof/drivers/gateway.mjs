// `toolpost up` in a process of its own, as a user starts it.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { basics, mapServers } from './shared.mjs'

const TOOLPOST = fileURLToPath(new URL('bin/toolpost.cjs', import.meta.resolve('toolpost/package.json')))
/** Node opens a connection for every request under way, so a program that makes thousands of calls limits them. */
const MAX_CALLS = 256
let running = 0
const waiting = []

export const supports = [...basics, 'connectTimeout', 'progress', 'validate', 'reconnect', 'listChanged']

let child
export const gateway = { url: '', headers: {} }

export const pid = () => child.pid

/** Starts a gateway for these servers, and waits until each is ready or has failed once. */
export async function start({ servers, connectTimeoutMs }) {
  const token = randomBytes(24).toString('hex')
  const mcpServers = mapServers(servers, server => ({ ...server, maxTimeoutMs: 60_000, trust: true }))
  // Its servers change their tools, and nobody is there to accept that.
  const config = { mcpServers, mcp: { connectTimeoutMs }, model: 'offline', gateway: { token }, pins: 'warn' }
  writeFileSync('toolpost.json', JSON.stringify(config))
  child = spawn(process.execPath, [TOOLPOST, 'up', '--config', 'toolpost.json', '--port', '0'])
  gateway.url = await printedUrl()
  gateway.headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (;;) {
    const response = await fetch(`${gateway.url}/api/servers`, { headers: gateway.headers })
    const { servers: found } = await response.json()
    const failed = found.find(({ state, error }) => state === 'failed' || (state === 'starting' && error))
    if (failed) throw new Error(`${failed.error}\n${failed.stderr}`)
    if (found.every(({ state }) => state === 'ready')) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

function printedUrl() {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = data => {
      output += data
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (found) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', code => reject(new Error(`toolpost up exited with ${code}: ${output}`)))
  })
}

export async function stop() {
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

/** Runs it when fewer than `MAX_CALLS` others are under way. */
export async function inTurn(call) {
  while (running >= MAX_CALLS) await new Promise(resolve => waiting.push(resolve))
  running++
  try {
    return await call()
  } finally {
    running--
    waiting.shift()?.()
  }
}
