// Reaction times: from a cancellation until the tool's signal is aborted in another process, and from SIGKILL of a worker
// until its call starts again on another one. Both are timed here, by a line that the worker prints.
const POOL = 'noticing'
const CANCELS = 50
const DEATHS = 6

export async function timeNotice(durable, startWorker) {
  let worker = await startWorker(POOL, 4)
  const cancels = []
  for (let number = 0; number < CANCELS; number++) cancels.push(await timeCancel(durable, worker))
  const deaths = []
  for (let number = 0; number < DEATHS; number++) {
    const { took, next } = await timeDeath(durable, worker, () => startWorker(POOL, 4))
    deaths.push(took)
    worker = next
  }
  console.log('\n| from … to … | times | p50, ms | max, ms |\n|---|---|---|---|')
  row('cancel → the tool is aborted in another process', cancels)
  row('SIGKILL of a worker → its call starts on another', deaths)
}

async function hold(durable, worker) {
  const begun = worker.says('begun')
  const { id, result } = await durable.accept({ name: 'hold', args: {} }, { pool: POOL })
  await begun
  return { id, result }
}

async function timeCancel(durable, worker) {
  const { id, result } = await hold(durable, worker)
  const aborted = worker.says('aborted')
  const sent = performance.now()
  await durable.cancel(id)
  const took = (await aborted) - sent
  await result
  return took
}

async function timeDeath(durable, worker, startNext) {
  const { id, result } = await hold(durable, worker)
  const next = await startNext()
  const begun = next.says('begun')
  const killed = performance.now()
  worker.child.kill('SIGKILL')
  const took = (await begun) - killed
  await durable.cancel(id)
  await result
  return { took, next }
}

function row(name, times) {
  times.sort((a, b) => a - b)
  const shown = [times[Math.floor(times.length / 2)], times.at(-1)].map(time => Math.round(time))
  console.log(`| ${name} | ${times.length} | ${shown.join(' | ')} |`)
}
