// How long a process waited for a CPU, and who had the CPUs meanwhile: on a busy machine, client, probe and gateway compete
// with each other and with other programs, which says nothing about the gateway. Linux only; elsewhere waits are 0.
import { readdirSync, readFileSync } from 'node:fs'

/** How long the main thread of a process has been runnable without a CPU since it started. */
export function waitedMs(pid = 'self') {
  return Number(textOf(`/proc/${pid}/schedstat`).split(' ')[1] ?? 0) / 1e6
}

/** CPU time so far, in ticks: of the whole machine, and of a process with its descendants. */
export function workOf(pid) {
  const [, user = 0, nice = 0, system = 0] = textOf('/proc/stat').split('\n')[0].split(/ +/).map(Number)
  const parents = new Map()
  const own = new Map()
  for (const each of processes()) {
    const fields = textOf(`/proc/${each}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    parents.set(each, fields[1])
    own.set(
      each,
      fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0),
    )
  }
  let ticks = 0
  for (const each of own.keys()) if (isOf(pid, each, parents)) ticks += own.get(each) || 0
  return { all: user + nice + system, own: ticks }
}

function isOf(ancestor, pid, parents) {
  for (let at = pid; at > 1; at = parents.get(at) ?? 0) if (at === ancestor) return true
  return false
}

function processes() {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
