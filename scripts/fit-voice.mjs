// Fits the score of packages/voice-gateway/src/listening/decision.ts, and reports what is decided with the weights in that file about
// other sentences of other voices.
// npm run build && node scripts/fit-voice.mjs [--sample 200] [--report 100] [--keep file.json]
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openProject } from 'toolpost/project'
import { stderrLogger } from 'toolpost/terminal'
import { startHome } from 'zwave-mcp-server/home'
import { HOME } from '../bench/voice/home.mjs'
import { OTHER_HOMES, plan, record } from '../bench/voice/recordings.mjs'
import { readAudio } from '../packages/voice-gateway/dist/audio/wav.js'
import { MoonshineTranscriber } from '../packages/voice-gateway/dist/index.js'
import { callsTool, decide, scoreOf, weigh } from '../packages/voice-gateway/dist/listening/decision.js'

/** Each with the home that it is about. */
const FITTED = [
  { home: HOME, halves: ['tuning', 'second', 'fourth', 'seventh'] },
  { home: OTHER_HOMES.lamps.home, halves: ['lamps'] },
]
const REPORTED = [{ home: HOME, halves: ['tenth'] }]
const CONDITIONS = ['clean', 'pink 20 dB', 'pink 10 dB', 'reverb']
/** Acting on speech that was no command is this much worse than doing the wrong thing. */
const OTHER_SPEECH = 3

const { values: options } = parseArgs({
  options: {
    /** This many recordings per condition and home of those that are fitted, and of the others. */
    sample: { type: 'string', default: '200' },
    report: { type: 'string', default: '100' },
    /** A file for what the speech model heard, which takes minutes; read if it exists. */
    keep: { type: 'string' },
  },
})
const kept = options.keep && existsSync(options.keep) ? JSON.parse(readFileSync(options.keep)) : []
const heard = []
const rows = []
const sets = [...FITTED.map(set => [set, options.sample]), ...REPORTED.map(set => [set, options.report])]
for (const [{ home, halves }, count] of sets) await inHome(home, halves, Number(count))
if (options.keep) writeFileSync(options.keep, JSON.stringify(heard))
const weights = fitWeights(rowsOf(FITTED).filter(({ evidence }) => evidence))
const rounded = Object.entries(weights).map(([name, value]) => [name, Number(value.toFixed(2))])
console.log('WEIGHTS', Object.fromEntries(rounded))
report('fitted', rowsOf(FITTED))
report('others', rowsOf(REPORTED))

/** Hears a sample of these halves in this home, and keeps what is decided. */
async function inHome(devices, halves, count) {
  const home = await startHome(devices)
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
  const known = kept.filter(({ half }) => halves.includes(half))
  const graph = sentences.graph({ executor })
  const listened = known.length > 0 ? known : await listenTo(halves, count, graph)
  heard.push(...listened)
  const understand = content => sentences.understand([{ role: 'user', content }], { executor })
  rows.push(...listened.map(recording => judged(recording, understand)))
  await project.close()
  await home.close()
}

async function listenTo(halves, count, graph) {
  const folder = mkdtempSync(join(tmpdir(), 'fit-voice-'))
  const chosen = CONDITIONS.flatMap(condition =>
    sampled(plan({ halves, voices: [], conditions: [condition] }), count),
  )
  const transcriber = new MoonshineTranscriber()
  const all = []
  for (const recording of record(chosen, folder)) {
    const samples = await readAudio({ wav: readFileSync(join(folder, recording.file)) })
    all.push({ ...recording, listened: await transcriber.listen(samples, { graph }) })
  }
  await transcriber.close()
  rmSync(folder, { recursive: true })
  return all
}

/** Any of them, but the same each time. */
function sampled(recordings, count) {
  const hashOf = ({ file }) => createHash('md5').update(file).digest('hex')
  const byHash = new Map(recordings.map(recording => [hashOf(recording), recording]))
  const chosen = [...byHash.keys()].sort().slice(0, count)
  return chosen.map(hash => byHash.get(hash))
}

/** What speaks for the likeliest sentence, whether that was said, and what comes of it: right, wrong, asked or nothing. */
function judged({ half, condition, sentence, expected, listened }, understand) {
  const { kind, key } = understand(sentence)
  const isCommand = !expected.nothing
  const isSaid = meaning => isCommand && kind !== 'nothing' && isSame(meaning.key, key)
  const { best, evidence } = weigh(listened, understand) ?? {}
  const { decision, text } = decide(listened, understand)
  const meant = understand(text)
  const row = { half, condition, sentence, text, free: listened.text, isCommand, outcome: 'nothing' }
  if (callsTool(meant)) row.outcome = isSaid(meant) ? 'right' : 'wrong'
  if (callsTool(meant) && decision === 'ask') row.outcome = isSaid(meant) ? 'asked' : 'asked in vain'
  return best && callsTool(best) ? { ...row, evidence, isRight: isSaid(best) } : row
}

/** The same calls; asking for the same thing twice is no mistake. */
function isSame(key = '', other = '') {
  const calls = text => [...new Set(text.split(' + '))].sort().join()
  return calls(key) === calls(other)
}

/** Maximum likelihood by gradient descent (Adam): the score is the log of the odds of being right. */
function fitWeights(rows) {
  const weights = { heard: 3, below: 0, gap: 0 }
  const names = Object.keys(weights)
  const mean = Object.fromEntries(names.map(name => [name, { first: 0, second: 0 }]))
  for (let step = 1; step <= 6_000; step++) {
    const gradient = { heard: 0, below: 0.1 * weights.below, gap: 0.1 * weights.gap }
    for (const { evidence, isRight, isCommand } of rows) {
      const score = scoreOf(evidence, weights)
      const error = (1 / (1 + Math.exp(-score)) - Number(isRight)) * (isCommand ? 1 : OTHER_SPEECH)
      // Of the two doubts, the weights are about one: that it was not heard, and not that another sentence was.
      const notHeard = 1 - Math.exp(score - evidence.margin)
      gradient.heard += error * notHeard
      gradient.below += error * notHeard * evidence.below
      gradient.gap += error * notHeard * evidence.gap
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

function rowsOf(sets) {
  return sets.flatMap(({ halves }) => rows.filter(({ half }) => halves.includes(half)))
}

function report(title, reported) {
  const columns = 'commands | right | asked | wrong | other speech | asked about | acted on'
  console.log(`\n${title}\n| condition | ${columns} |\n|---|${'---:|'.repeat(7)}`)
  for (const name of ['clean', 'noisy']) {
    const of = reported.filter(({ condition }) => (condition === 'clean') === (name === 'clean'))
    const commands = of.filter(({ isCommand }) => isCommand)
    const others = of.filter(({ isCommand }) => !isCommand)
    const count = (all, outcome) => all.filter(row => row.outcome === outcome).length
    const share = outcome => `${((100 * count(commands, outcome)) / commands.length).toFixed(1)} %`
    const shares = ['right', 'asked', 'wrong'].map(share)
    const ignored = [others.length, count(others, 'asked in vain'), count(others, 'wrong')]
    console.log(`| ${[name, commands.length, ...shares, ...ignored].join(' | ')} |`)
  }
  for (const { sentence, condition, free, text, outcome } of reported)
    if (outcome === 'wrong')
      console.log(`wrong: "${sentence}" (${condition}) was heard as "${free}": ${text}`)
}
