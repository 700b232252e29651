const GOALS = {
  clean: 95,
  noisy: 88,
  wrong: 0.3,
  medianMs: 400,
  worstMs: 1_000,
  manyDevicesMs: 600,
  firstSoundMs: 300,
}
/** Of the speech model's process without matching sentences, and how much that may add. */
const MEMORY_MB = 308
const MEMORY_ADDED_MB = 50

export function printConditions(turns) {
  console.log(
    '| condition | commands | right | asked | nothing | wrong | right + asked/2 | switched: median, max ms | other speech | acted on |',
  )
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
  const conditions = [...new Set(turns.map(({ condition }) => condition))]
  for (const condition of conditions)
    printRow(
      condition,
      turns.filter(turn => turn.condition === condition),
    )
  if (conditions.length > 1) printRow('all', turns)
}

function printRow(name, turns) {
  const { commands, others } = sorted(turns)
  const count = outcome => commands.filter(turn => turn.outcome === outcome).length
  const share = outcome => percent(count(outcome), commands.length)
  const cells = [name, commands.length, share('right'), share('asked'), share('nothing'), share('wrong')]
  const acted = others.filter(({ outcome }) => outcome === 'wrong').length
  console.log(
    `| ${[...cells, `${score(commands).toFixed(1)} %`, times(turns), others.length, acted].join(' | ')} |`,
  )
}

/** The details of everything that was not right. */
export function printMisses(turns) {
  const misses = turns.filter(({ outcome }) => outcome !== 'right')
  console.log(
    '\n| said | voice | condition | outcome | heard | free text | decision | answer | calls |\n|---|---|---|---|---|---|---|---|---|',
  )
  for (const { sentence, voice, condition, outcome, heard = {}, answer, calls } of misses) {
    const { text = '', dropped, free_text = '', decision = '', margin } = heard
    const why = [decision, margin?.toFixed?.(1)].filter(Boolean).join(' ')
    console.log(
      `| ${[sentence, voice, condition, outcome, dropped ?? text, free_text, why, answer, calls.join('; ')].join(' | ')} |`,
    )
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
  goal(`clean: right ≥ ${GOALS.clean} %`, score(clean), value => value >= GOALS.clean, '%')
  goal(`other conditions: right ≥ ${GOALS.noisy} %`, score(noisy), value => value >= GOALS.noisy, '%')
  goal(`wrong action ≤ ${GOALS.wrong} %`, wrong, value => value <= GOALS.wrong, '%')
  goal('acted on speech that must do nothing: 0', acted, value => value === 0, `of ${others.length}`, 0)
  goal(`switched: median ≤ ${GOALS.medianMs} ms`, median(ms), value => value <= GOALS.medianMs, 'ms', 0)
  goal(`switched: max ≤ ${GOALS.worstMs} ms`, Math.max(...ms), value => value <= GOALS.worstMs, 'ms', 0)
  goal(
    `with 200 devices: median ≤ ${GOALS.manyDevicesMs} ms`,
    median(switchedMs(manyDevices)),
    value => value <= GOALS.manyDevicesMs,
    'ms',
    0,
  )
  goal(
    `first sound ≤ ${GOALS.firstSoundMs} ms after the result`,
    median(firstSounds),
    value => value <= GOALS.firstSoundMs,
    `ms, max ${Math.round(Math.max(...firstSounds))}`,
    0,
  )
  goal(
    `memory of the speech model ≤ ${MEMORY_MB} + ${MEMORY_ADDED_MB} MB`,
    memoryMb,
    value => value <= MEMORY_MB + MEMORY_ADDED_MB,
    'MB',
    0,
  )
}

function goal(name, value, isReached, unit, digits = 1) {
  const isKnown = Number.isFinite(value)
  const verdict = isKnown ? (isReached(value) ? 'pass' : 'FAIL') : 'not measured'
  console.log(`| ${name} | ${isKnown ? `${value.toFixed(digits)} ${unit}` : ''} | ${verdict} |`)
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
