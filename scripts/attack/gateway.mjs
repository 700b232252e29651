// `toolpost up` as a user would start it, with a probe that measures it.
import { fork, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { waitedMs, workOf } from './processors.mjs'

const here = name => fileURLToPath(new URL(name, import.meta.url))
const TOOLPOST = here('../../packages/toolpost/bin/toolpost.cjs')

const calm = {
  name: 'calm',
  description: 'A tool that is not attacked',
  parameters: { type: 'object' },
  implementation: { type: 'mock', mock_response: 'calm' },
}

const pids = new Map()

/** Starts a gateway with these tools and servers, and a probe. */
export async function startGateway({ tools = [], mcpServers = {}, options = [], config = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-attack-'))
  const file = join(folder, 'toolpost.json')
  const vitals = join(folder, 'vitals')
  const all = { tools: [calm, ...tools], mcpServers, model: 'offline', log: { level: 'warn' }, ...config }
  writeFileSync(file, JSON.stringify(all))
  const env = {
    ...process.env,
    ATTACK_VITALS: vitals,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --expose-gc --require ${here('vitals.cjs')}`,
  }
  const words = [TOOLPOST, 'up', '--port', '0', '--config', file, ...options]
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let output = ''
  let loggedBytes = 0
  child.stderr.on('data', data => {
    loggedBytes += data.length
    output = (output + data).slice(-4_000)
  })
  const url = await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', data => {
      said += data
      const [, found] = /Console {2}(\S+)/.exec(said) ?? []
      if (found) resolve(found)
    })
    child.once('exit', code => reject(new Error(`toolpost up exited with ${code}: ${output}`)))
  })
  pids.set(url, child.pid)
  const probe = fork(here('probe.mjs'), [url, String(child.pid)], { env: process.env })
  /** The probe's last figures before the gateway was killed. */
  let last
  const figures = () =>
    last ??
    new Promise(resolve => {
      probe.once('message', resolve)
      probe.send('figures')
    })

  return {
    url,
    figures,
    work: () => workOf(child.pid),
    async kill() {
      last = await figures()
      child.kill('SIGKILL')
    },
    loggedBytes: () => loggedBytes,
    lastWords: () => output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async memory() {
      rmSync(vitals, { force: true })
      child.kill('SIGUSR2')
      for (let tries = 0; tries < 200; tries++) {
        await pause(25)
        try {
          return JSON.parse(readFileSync(vitals, 'utf8'))
        } catch {}
      }
      return { heldMb: Number.NaN, rssMb: Number.NaN }
    },
    async close() {
      probe.kill()
      const ended = new Promise(resolve => child.once('exit', resolve))
      const began = performance.now()
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        const isEnded = await Promise.race([ended.then(() => true), pause(15_000, false)])
        if (!isEnded) child.kill('SIGKILL')
      }
      rmSync(folder, { recursive: true, force: true })
      return performance.now() - began
    },
  }
}

/**
 * Makes a call over HTTP with a deadline; returns its code and how late the answer arrived, as seen by this process.
 * For `starvedMs` of that, this process or the gateway was waiting for a CPU.
 */
export async function call(url, tool, args, { timeoutMs = 1_000, body } = {}) {
  const seen = { at: performance.now() + timeoutMs, waited: undefined }
  const waits = () => [waitedMs(), waitedMs(pids.get(url))]
  const timer = setTimeout(() => {
    seen.at = performance.now()
    seen.waited = waits()
  }, timeoutMs)
  const late = () => {
    clearTimeout(timer)
    const starvedMs = Math.max(0, ...waits().map((waited, at) => waited - (seen.waited?.[at] ?? waited)))
    return { lateMs: performance.now() - seen.at, starvedMs }
  }
  try {
    const response = await fetch(`${url}api/tools/${encodeURIComponent(tool)}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-timeout-ms': String(timeoutMs) },
      body: body ?? JSON.stringify(args),
      signal: AbortSignal.timeout(60_000),
    })
    const answer = await response.json()
    const code = answer.code ?? (answer.success ? 'success' : `HTTP ${response.status}`)
    const inExecutorMs = (answer.execution_time_ms ?? 0) - timeoutMs
    return { code, error: answer.error, inExecutorMs, ...late() }
  } catch (error) {
    return { code: `no answer (${error.cause?.code ?? error.name})`, ...late() }
  }
}
