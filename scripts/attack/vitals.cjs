// Preloaded into the gateway: on a signal, writes the memory in use after garbage collection and the longest turn of the
// event loop since the last signal, in CPU time, which other programs do not affect.
const { openSync, readSync, renameSync, writeFileSync } = require('node:fs')

/** The sampling interval: a turn is overestimated by at most this much. */
const LOOK_MS = 5

if (process.env.ATTACK_VITALS && process.argv.includes('up')) {
  const file = process.env.ATTACK_VITALS
  const cpuMs = mainThreadClock()
  let busyMs = 0
  let last = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    busyMs = Math.max(busyMs, now - last)
    last = now
  }, LOOK_MS).unref()
  process.on('SIGUSR2', () => {
    const longest = busyMs
    globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    const vitals = { heldMb: (heapUsed + external) / 1048576, rssMb: rss / 1048576, busyMs: longest }
    writeFileSync(`${file}.new`, JSON.stringify(vitals))
    renameSync(`${file}.new`, file)
    last = cpuMs()
    busyMs = 0
  })
}

/** CPU time of the main thread, without GC and compiler threads; of the whole process if unavailable. */
function mainThreadClock() {
  try {
    const file = openSync('/proc/self/schedstat', 'r')
    const bytes = Buffer.alloc(100)
    return () => Number.parseInt(bytes.toString('latin1', 0, readSync(file, bytes, 0, 100, 0)), 10) / 1e6
  } catch {
    return () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000
    }
  }
}
