// A separate PostgreSQL in a temporary folder, which can be killed and started again: the embedded one of toolpost-durable.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEmbedded } from '../../packages/durable/dist/postgres.js'

export class TestPostgres {
  #server
  #url

  /**
   * `address`: where it listens in addition to loopback; `network`: who may connect there; `isQuick`: without fsync, which
   * survives a killed process but not a power failure.
   */
  static async start({ address, network, isQuick = false } = {}) {
    const postgres = new TestPostgres()
    postgres.folder = mkdtempSync(join(tmpdir(), 'toolpost-postgres-'))
    chmodSync(postgres.folder, 0o755)
    const settings = ['max_connections=200', ...(isQuick ? ['fsync=off'] : [])]
    if (address) settings.push(`listen_addresses=127.0.0.1,${address}`)
    const data = join(postgres.folder, 'data')
    postgres.#server = createEmbedded(data, { flags: settings.flatMap(each => ['-c', each]) })
    await postgres.start()
    if (network) {
      appendFileSync(join(data, 'pg_hba.conf'), `host all all ${network} scram-sha-256\n`)
      process.kill(postgres.pid, 'SIGHUP')
    }
    return postgres
  }

  url(host = '127.0.0.1') {
    const url = new URL(this.#url)
    url.hostname = host
    return url.href
  }

  /** Of the postmaster. */
  get pid() {
    return Number(readFileSync(join(this.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  }

  async start() {
    this.#url = await this.#server.start()
  }

  /** Like a power failure, except that the system's cache survives. */
  async kill() {
    const { pid } = this
    const all = [pid, ...childrenOf(pid)]
    for (const each of all) tryKill(each, 'SIGKILL')
    while (all.some(each => tryKill(each, 0))) await sleep(10)
  }

  async stop() {
    await this.#server.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function childrenOf(pid) {
  try {
    const found = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    return found.split('\n').map(Number).filter(Boolean)
  } catch {
    return []
  }
}

function tryKill(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
