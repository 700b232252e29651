/** How long it may take until a device has switched. */
const GOAL_MS = 1_000

export function printTurns(all) {
  console.log(
    '| sentence | voice | s | heard | word errors | transcribe ms | answer ms | switched ms | first sound ms |',
  )
  console.log('|---|---|---:|---|---:|---:|---:|---:|---:|')
  for (const turn of all) {
    const { sentence, voice, seconds, heard, errors, transcribeMs, answerMs, switchedMs, firstSoundMs } = turn
    console.log(
      `| ${sentence} | ${voice} | ${seconds.toFixed(1)} | ${heard} | ${errors} | ${ms(transcribeMs)} | ${ms(answerMs)} | ${ms(switchedMs)} | ${ms(firstSoundMs)} |`,
    )
  }
}

export function printSummary(all) {
  const rate = (100 * sum(all.map(({ errors }) => errors))) / sum(all.map(({ words }) => words))
  const devices = all.filter(({ device }) => device)
  const switched = devices.flatMap(({ switchedMs }) => (switchedMs ? [switchedMs] : []))
  const transcribed = all.map(({ transcribeMs }) => transcribeMs)
  console.log(`\nWord error rate ${rate.toFixed(1)} % on ${all.length} sentences of espeak-ng`)
  console.log(
    `Speech to text: median ${ms(median(transcribed))} ms, worst ${ms(Math.max(...transcribed))} ms`,
  )
  console.log(`Heard well enough to switch the device: ${switched.length} of ${devices.length}`)
  console.log(`From the end of the recording to the switched device: ${latency(switched)}`)
}

/** Those that were misheard switch nothing and have no time; they are counted beside it. */
export function latency(times) {
  if (times.length === 0) return 'nothing was switched: missed'
  const worst = Math.max(...times)
  const verdict = worst < GOAL_MS ? 'reached' : 'missed'
  return `median ${ms(median(times))} ms, worst ${ms(worst)} ms; goal < ${GOAL_MS} ms: ${verdict}`
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}

export function ms(value) {
  return value === undefined ? '' : Math.round(value)
}
