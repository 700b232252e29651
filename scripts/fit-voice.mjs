// Fits the score of packages/voice-gateway/src/listening/decision.ts on one half of the voices, and reports it on the other half.
// npm run build && node scripts/fit-voice.mjs [--sample 150] [--keep file.json]
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openProject, stderrLogger } from 'toolpost/project'
import { startHome } from 'zwave-mcp-server/home'
import { plan, record } from '../bench/voice/recordings.mjs'
import { readAudio } from '../packages/voice-gateway/dist/audio/wav.js'
import { MoonshineTranscriber } from '../packages/voice-gateway/dist/index.js'
import { scoreOf, weigh } from '../packages/voice-gateway/dist/listening/decision.js'

const FITTED = ['tuning', 'second', 'fourth', 'seventh']
const REPORTED = ['held-out', 'third', 'fifth', 'unseen', 'eighth']
const CONDITIONS = ['clean', 'pink 20 dB', 'pink 10 dB', 'reverb']
/** Commands that may be carried out wrongly; speech that is no command never is. */
const MOST_WRONG = 0.003
/** Asked about from here on: one in four is meant. */
const ASK_FROM = Math.log(1 / 3)
/** Given, not fitted: if two meanings are as likely, it must ask, and recordings of single sentences show that too rarely. */
const CERTAINTY = 4.7
const NAMES = ['bias', 'belowFree', 'distance', 'gap', 'tells']

const { values: options } = parseArgs({
  options: {
    /** This many recordings per condition and half. */
    sample: { type: 'string', default: '150' },
    /** A file for what the speech model heard, which takes minutes; read if it exists. */
    keep: { type: 'string' },
  },
})
const home = await startHome()
process.env.MQTT_BROKER_URL = home.url
const project = await openProject({
  logger: () => stderrLogger('fatal'),
  say: () => {},
  model: { wanted: 'offline' },
})
const { executor } = project
const { sentences } = await project.model()
await sentences.load()
await project.ready()
await sentences.refresh({ executor })
const heard =
  options.keep && existsSync(options.keep) ? JSON.parse(readFileSync(options.keep)) : await hearAll()
if (options.keep) writeFileSync(options.keep, JSON.stringify(heard))
const rows = heard.flatMap(evidenceOf)
const fitted = rows.filter(({ half }) => FITTED.includes(half))
const weights = fitWeights(fitted.filter(({ evidence }) => evidence))
const actFrom = threshold(fitted)
const shown = Object.fromEntries(
  Object.entries(weights).map(([name, value]) => [name, Number(value.toFixed(2))]),
)
console.log('WEIGHTS', shown, 'ACT_FROM', Number(actFrom.toFixed(2)), 'ASK_FROM', Number(ASK_FROM.toFixed(2)))
for (const half of [FITTED, REPORTED]) report(half)
await project.close()
await home.close()

async function hearAll() {
  const folder = mkdtempSync(join(tmpdir(), 'fit-voice-'))
  const voices = ['espeak-ng:', 'flite:']
  const chosen = [FITTED, REPORTED].flatMap(halves =>
    CONDITIONS.flatMap(condition => sampled(plan({ halves, voices, conditions: [condition] }))),
  )
  const transcriber = new MoonshineTranscriber()
  const graph = sentences.graph({ executor })
  const all = []
  for (const recording of record(chosen, folder)) {
    const samples = await readAudio({ wav: readFileSync(join(folder, recording.file)) })
    all.push({ ...recording, listened: await transcriber.listen(samples, { graph }) })
  }
  await transcriber.close()
  rmSync(folder, { recursive: true })
  return all
}

/** Evenly spread, and the same each time. */
function sampled(recordings) {
  const step = Math.max(1, recordings.length / Number(options.sample))
  return Array.from(
    { length: Math.floor(recordings.length / step) },
    (_, n) => recordings[Math.floor(n * step)],
  )
}

/** What speaks for the likeliest sentence, and whether it is what was said. */
function evidenceOf({ half, condition, sentence, expected, listened }) {
  const understand = content => sentences.understand([{ role: 'user', content }], { executor })
  const { kind, key } = understand(sentence)
  const { best, evidence } = weigh(listened, understand) ?? {}
  const isCommand = !expected.nothing
  const isRight = isCommand && kind !== 'nothing' && best?.key === key
  const acts = best?.kind === 'act' || best?.kind === 'tell'
  return [{ half, condition, isCommand, isRight, evidence: acts ? evidence : undefined }]
}

/** Logistic regression by Newton's method, in steps of at most 1. */
function fitWeights(rows) {
  const x = rows.map(({ evidence }) => NAMES.map(name => evidence[name] ?? 1))
  let w = NAMES.map(() => 0)
  for (let step = 0; step < 100; step++) {
    const p = x.map((row, n) => 1 / (1 + Math.exp(-dot(row, w) - CERTAINTY * rows[n].evidence.certainty)))
    const gradient = w.map(
      (value, i) => 0.01 * value + sum(x, (row, n) => row[i] * (p[n] - Number(rows[n].isRight))),
    )
    const hessian = w.map((_, i) =>
      w.map((_, j) => (i === j ? 0.01 : 0) + sum(x, (row, n) => row[i] * row[j] * p[n] * (1 - p[n]))),
    )
    const by = solve(hessian, gradient)
    const length = Math.max(1, ...by.map(Math.abs))
    w = w.map((value, i) => value - by[i] / length)
  }
  return { ...Object.fromEntries(NAMES.map((name, i) => [name, w[i]])), certainty: CERTAINTY }
}

/** The lowest score above which hardly a command is wrong, and nothing else is carried out. */
function threshold(rows) {
  const scored = rows
    .filter(({ evidence }) => evidence)
    .map(row => ({ ...row, score: scoreOf(row.evidence, weights) }))
  const most = MOST_WRONG * rows.filter(({ isCommand }) => isCommand).length
  const wrong = scored.filter(({ isCommand, isRight }) => isCommand && !isRight).map(({ score }) => score)
  const other = scored.filter(({ isCommand }) => !isCommand).map(({ score }) => score)
  const limit = wrong.sort((a, b) => b - a)[Math.floor(most)] ?? 0
  return Math.max(limit, ...other) + 0.01
}

function report(halves) {
  console.log(
    `\n${halves.join(', ')}\n| condition | commands | right | asked | wrong | acted on other speech |\n|---|---:|---:|---:|---:|---:|`,
  )
  for (const [name, isMeant] of [
    ['clean', c => c === 'clean'],
    ['noisy', c => c !== 'clean'],
  ]) {
    const all = rows.filter(({ half, condition }) => halves.includes(half) && isMeant(condition))
    const scoreFor = ({ evidence }) => (evidence ? scoreOf(evidence, weights) : Number.NEGATIVE_INFINITY)
    const commands = all.filter(({ isCommand }) => isCommand)
    const others = all.filter(({ isCommand }) => !isCommand)
    const share = isIt => `${((100 * commands.filter(isIt).length) / commands.length).toFixed(1)} %`
    const acts = row => scoreFor(row) >= actFrom
    const cells = [
      name,
      commands.length,
      share(row => row.isRight && acts(row)),
      share(row => row.isRight && !acts(row) && scoreFor(row) >= ASK_FROM),
      share(row => !row.isRight && acts(row)),
      `${others.filter(acts).length} of ${others.length}`,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function dot(a, b) {
  return a.reduce((total, value, i) => total + value * b[i], 0)
}

function sum(items, value) {
  return items.reduce((total, item, n) => total + value(item, n), 0)
}

/** Gaussian elimination. */
function solve(matrix, vector) {
  const rows = matrix.map((row, i) => [...row, vector[i]])
  for (let i = 0; i < rows.length; i++)
    for (let j = 0; j < rows.length; j++) {
      if (i === j) continue
      const factor = rows[j][i] / rows[i][i]
      rows[j] = rows[j].map((value, k) => value - factor * rows[i][k])
    }
  return rows.map((row, i) => row[row.length - 1] / row[i])
}
