// Loaded into the gateway: writes what it holds in memory, after a collection, whenever it is asked by a signal.
const { writeFileSync } = require('node:fs')

if (process.env.ATTACK_VITALS && process.argv.includes('up')) {
  const file = process.env.ATTACK_VITALS
  process.on('SIGUSR2', () => {
    globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    writeFileSync(
      `${file}.new`,
      JSON.stringify({ heldMb: (heapUsed + external) / 1048576, rssMb: rss / 1048576 }),
    )
    require('node:fs').renameSync(`${file}.new`, file)
  })
}
