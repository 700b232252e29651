// Fits the score of packages/voice-gateway/src/listening/decision.ts on one half of the voices, and reports it on the other half.
// npm run build && node scripts/fit-voice.mjs [--sample 220] [--report 80] [--keep file.json]
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openProject } from 'toolpost/project'
import { stderrLogger } from 'toolpost/terminal'
import { startHome } from 'zwave-mcp-server/home'
import { HOME } from '../bench/voice/home.mjs'
import { plan, record } from '../bench/voice/recordings.mjs'
import { readAudio } from '../packages/voice-gateway/dist/audio/wav.js'
import { MoonshineTranscriber } from '../packages/voice-gateway/dist/index.js'
import { scoreOf, weigh } from '../packages/voice-gateway/dist/listening/decision.js'

const FITTED = ['tuning', 'second', 'fourth', 'seventh']
const REPORTED = ['held-out', 'third', 'fifth', 'unseen', 'eighth']
const CONDITIONS = ['clean', 'pink 20 dB', 'pink 10 dB', 'reverb']
/** The score is the log of the odds. Doing the wrong thing is as bad as ten questions that were not needed. */
const ACT_FROM = Math.log(10)
/** Asked about from here on: one in four is meant. */
const ASK_FROM = Math.log(1 / 3)
/** Acting on speech that was no command is this much worse than doing the wrong thing. */
const OTHER_SPEECH = 3
const HEARD = ['belowFree', 'distance', 'gap']

const { values: options } = parseArgs({
  options: {
    /** This many recordings per condition of the half that is fitted, and of the other. */
    sample: { type: 'string', default: '220' },
    report: { type: 'string', default: '80' },
    /** A file for what the speech model heard, which takes minutes; read if it exists. */
    keep: { type: 'string' },
  },
})
const home = await startHome(HOME)
process.env.MQTT_BROKER_URL = home.url
const logger = () => stderrLogger('fatal')
const project = await openProject({ logger, say: () => {}, model: { wanted: 'offline' } })
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
const shown = Object.fromEntries(
  Object.entries(weights).map(([name, value]) => [name, Number(value.toFixed(2))]),
)
console.log(
  'WEIGHTS',
  shown,
  'ACT_FROM',
  Number(ACT_FROM.toFixed(2)),
  'ASK_FROM',
  Number(ASK_FROM.toFixed(2)),
)
for (const half of [FITTED, REPORTED]) report(half)
await project.close()
await home.close()

async function hearAll() {
  const folder = mkdtempSync(join(tmpdir(), 'fit-voice-'))
  const voices = ['espeak-ng:', 'flite:']
  const chosen = [
    [FITTED, Number(options.sample)],
    [REPORTED, Number(options.report)],
  ].flatMap(([halves, count]) =>
    CONDITIONS.flatMap(condition => sampled(plan({ halves, voices, conditions: [condition] }), count)),
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
function sampled(recordings, count) {
  const step = Math.max(1, recordings.length / count)
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
  const isRight = isCommand && kind !== 'nothing' && isSame(best?.key, key)
  const acts = best?.kind === 'act' || best?.kind === 'tell'
  return [{ half, condition, isCommand, isRight, evidence: acts ? evidence : undefined }]
}

/** The same calls; asking for the same thing twice is no mistake. */
function isSame(key = '', other = '') {
  const calls = text => [...new Set(text.split(' + '))].sort().join()
  return calls(key) === calls(other)
}

/** Maximum likelihood by gradient descent (Adam): the score is the log of the odds of being right. */
function fitWeights(rows) {
  const weights = { heard: 3, belowFree: 0, distance: 0, gap: 0, certain: 0, margin: 1 }
  const names = Object.keys(weights)
  const mean = Object.fromEntries(names.map(name => [name, { first: 0, second: 0 }]))
  for (let step = 1; step <= 6_000; step++) {
    const gradient = Object.fromEntries(names.map(name => [name, name === 'heard' ? 0 : 0.1 * weights[name]]))
    for (const { evidence, isRight, isCommand } of rows) {
      const score = scoreOf(evidence, weights)
      const error = (1 / (1 + Math.exp(-score)) - Number(isRight)) * (isCommand ? 1 : OTHER_SPEECH)
      // Which of the two doubts counts: that it was not heard, or that another sentence was.
      const notCertain = Math.exp(score - weights.certain - weights.margin * evidence.margin)
      gradient.certain += error * notCertain
      gradient.margin += error * notCertain * evidence.margin
      gradient.heard += error * (1 - notCertain)
      for (const name of HEARD) gradient[name] += error * (1 - notCertain) * evidence[name]
    }
    for (const name of names) {
      const of = mean[name]
      of.first = 0.9 * of.first + 0.1 * gradient[name]
      of.second = 0.999 * of.second + 0.001 * gradient[name] ** 2
      const size = Math.sqrt(of.second / (1 - 0.999 ** step)) + 1e-9
      weights[name] -= ((0.03 / (1 - 0.9 ** step)) * of.first) / size
    }
  }
  return weights
}

function report(halves) {
  const columns = ['condition', 'commands', 'right', 'asked', 'wrong', 'acted on other speech']
  console.log(`\n${halves.join(', ')}\n| ${columns.join(' | ')} |\n|---|---:|---:|---:|---:|---:|`)
  for (const name of ['clean', 'noisy']) {
    const isMeant = condition => (condition === 'clean') === (name === 'clean')
    const all = rows.filter(({ half, condition }) => halves.includes(half) && isMeant(condition))
    const scoreFor = ({ evidence }) => (evidence ? scoreOf(evidence, weights) : Number.NEGATIVE_INFINITY)
    const commands = all.filter(({ isCommand }) => isCommand)
    const others = all.filter(({ isCommand }) => !isCommand)
    const share = isIt => `${((100 * commands.filter(isIt).length) / commands.length).toFixed(1)} %`
    const acts = row => scoreFor(row) >= ACT_FROM
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
