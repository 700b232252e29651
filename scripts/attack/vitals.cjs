// Loaded into the gateway: writes what it holds in memory, after a collection, whenever it is asked by a signal; and the
// longest that it was busy without a pause since it was asked last, in CPU time, which other programs do not lengthen.
const { writeFileSync, renameSync } = require('node:fs')

if (process.env.ATTACK_VITALS && process.argv.includes('up')) {
  const file = process.env.ATTACK_VITALS
  let busyMs = 0
  let last = process.cpuUsage()
  setInterval(() => {
    const { user, system } = process.cpuUsage(last)
    last = process.cpuUsage()
    busyMs = Math.max(busyMs, (user + system) / 1_000)
  }, 20).unref()
  process.on('SIGUSR2', () => {
    const longest = busyMs
    globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    const vitals = { heldMb: (heapUsed + external) / 1048576, rssMb: rss / 1048576, busyMs: longest }
    writeFileSync(`${file}.new`, JSON.stringify(vitals))
    renameSync(`${file}.new`, file)
    last = process.cpuUsage()
    busyMs = 0
  })
}
