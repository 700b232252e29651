/** Of the speech model's process without matching sentences, and what that may add. */
const MEMORY_MB = 308 + 50

const row = cells => console.log(`| ${cells.join(' | ')} |`)

export function printConditions(turns) {
  const outcomes = ['right', 'asked', 'nothing', 'wrong', 'right + asked/2', 'switched: median, max ms']
  row(['condition', 'commands', ...outcomes, 'other speech', 'acted on'])
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
  const conditions = [...new Set(turns.map(({ condition }) => condition))]
  for (const name of conditions)
    printRow(
      name,
      turns.filter(({ condition }) => condition === name),
    )
  if (conditions.length > 1) printRow('all', turns)
}

function printRow(name, turns) {
  const { commands, others } = sorted(turns)
  const count = outcome => commands.filter(turn => turn.outcome === outcome).length
  const share = outcome => percent(count(outcome), commands.length)
  const cells = [name, commands.length, share('right'), share('asked'), share('nothing'), share('wrong')]
  const acted = others.filter(({ outcome }) => outcome === 'wrong').length
  row([...cells, `${score(commands).toFixed(1)} %`, times(turns), others.length, acted])
}

/** The details of everything that was not right. */
export function printMisses(turns) {
  const misses = turns.filter(({ outcome }) => outcome !== 'right')
  console.log('')
  row(['said', 'voice', 'condition', 'outcome', 'heard', 'free text', 'decision', 'answer', 'calls'])
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const { sentence, voice, condition, outcome, heard = {}, answer, calls } of misses) {
    const { text = '', dropped, free_text = '', decision = '', margin } = heard
    const why = [decision, margin?.toFixed?.(1)].filter(Boolean).join(' ')
    row([sentence, voice, condition, outcome, dropped ?? text, free_text, why, answer, calls.join('; ')])
  }
}

export function printGoals({ turns, manyDevices, firstSounds, memoryMb }) {
  const { commands, others } = sorted(turns)
  const clean = commands.filter(({ condition }) => condition === 'clean')
  const noisy = commands.filter(({ condition }) => condition !== 'clean')
  const wrong = (100 * commands.filter(({ outcome }) => outcome === 'wrong').length) / commands.length
  const acted = others.filter(({ outcome }) => outcome === 'wrong').length
  const ms = switchedMs(turns)
  console.log('\n| goal | reached | |\n|---|---:|---|')
  atLeast('clean: right', score(clean), 95, '%')
  atLeast('other conditions: right', score(noisy), 88, '%')
  atMost('wrong action', wrong, 0.3, '%')
  atMost(`acted on speech that must do nothing, of ${others.length}`, acted, 0, '')
  atMost('switched: median', median(ms), 400, 'ms')
  atMost('switched: max', Math.max(...ms), 1_000, 'ms')
  atMost('with 200 devices: median', median(switchedMs(manyDevices)), 600, 'ms')
  atMost('first sound after the result', median(firstSounds), 300, 'ms')
  atMost('memory of the speech model', memoryMb, MEMORY_MB, 'MB')
}

const atLeast = (name, value, limit, unit) => goal(`${name} ≥ ${limit} ${unit}`, value, value >= limit, unit)
const atMost = (name, value, limit, unit) => goal(`${name} ≤ ${limit} ${unit}`, value, value <= limit, unit)

function goal(name, value, isReached, unit) {
  const isKnown = Number.isFinite(value)
  const verdict = isKnown ? (isReached ? 'pass' : 'FAIL') : 'not measured'
  row([name, isKnown ? `${value.toFixed(unit === '%' ? 1 : 0)} ${unit}` : '', verdict])
}

/** A command that was asked about and confirmed counts half. */
function score(commands) {
  const points = { right: 1, asked: 0.5 }
  return (100 * commands.reduce((sum, { outcome }) => sum + (points[outcome] ?? 0), 0)) / commands.length
}

function sorted(turns) {
  return {
    commands: turns.filter(({ expected }) => !expected.nothing),
    others: turns.filter(({ expected }) => expected.nothing),
  }
}

function switchedMs(turns) {
  return turns.flatMap(({ ms }) => (ms === undefined ? [] : [ms]))
}

function times(turns) {
  const ms = switchedMs(turns)
  return ms.length === 0 ? '' : `${Math.round(median(ms))}, ${Math.round(Math.max(...ms))}`
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

function percent(part, whole) {
  return whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`
}
