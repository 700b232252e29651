// Two hosts on one machine: network namespaces with separate addresses, each linked to a bridge that PostgreSQL listens
// on. Workers 1 and 2 run on the first, worker 3 on the second.
import { execFileSync } from 'node:child_process'

const BRIDGE = 'tpproof0'
const NET = '10.231.77'

export class Hosts {
  address = `${NET}.1`
  network = `${NET}.0/24`
  #hosts

  /** The hosts, or why they cannot be created. */
  static make() {
    if (process.getuid?.() !== 0) return 'network namespaces need root'
    const hosts = new Hosts()
    try {
      hosts.remove()
      ip('link', 'add', BRIDGE, 'type', 'bridge')
      ip('addr', 'add', `${hosts.address}/24`, 'dev', BRIDGE)
      ip('link', 'set', BRIDGE, 'up')
      hosts.#hosts = [1, 2].map(number => addHost(number))
      return hosts
    } catch (error) {
      hosts.remove()
      return `network namespaces cannot be created here: ${String(error.stderr || error.message).trim()}`
    }
  }

  /** The host of a worker. */
  host(worker) {
    return this.#hosts[worker === 3 ? 1 : 0]
  }

  remove() {
    for (const number of [1, 2]) quietly('netns', 'del', `tpproof${number}`)
    quietly('link', 'del', BRIDGE)
  }
}

function addHost(number) {
  const name = `tpproof${number}`
  const link = `tpproofv${number}`
  ip('netns', 'add', name)
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('link', 'set', link, 'master', BRIDGE)
  ip('link', 'set', link, 'up')
  const prefix = ['ip', 'netns', 'exec', name]
  ip('-n', name, 'addr', 'add', `${NET}.${number + 1}/24`, 'dev', 'eth0')
  ip('-n', name, 'link', 'set', 'eth0', 'up')
  ip('-n', name, 'link', 'set', 'lo', 'up')
  return { prefix, cut: () => ip('link', 'set', link, 'down'), mend: () => ip('link', 'set', link, 'up') }
}

function ip(...args) {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function quietly(...args) {
  try {
    ip(...args)
  } catch {
    // It did not exist.
  }
}
