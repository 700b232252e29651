// Spoken sentences through the built package: what is heard, and how long each stage takes, until a device has switched.
// npm run bench:voice [-- --soak 1000]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import mqtt from 'mqtt'
import { openProject, stderrLogger } from 'toolpost/config'
import { chooseClient, whenToolsReady } from 'toolpost/models'
import { listenToMicrophone } from '../dist/audio/microphone.js'
import { readWav } from '../dist/audio/read-wav.js'
import { writePcm } from '../dist/audio/write-pcm.js'
import { findSpeaker, MoonshineTranscriber, startVoice } from '../dist/index.js'
import { wordErrors, wordsIn } from './word-errors.mjs'

/** Sentences that switch something, with the device and what it reports then; and others, for what is heard alone. */
const SENTENCES = [
  ['turn on switch one', 'Switch_One', true],
  ['turn off switch one', 'Switch_One', false],
  ['turn on the living room light', 'Living_Room_Light', 'lit'],
  ['turn the living room light off', 'Living_Room_Light', 0],
  ['dim the living room light to thirty percent', 'Living_Room_Light', 30],
  ['switch on switch one', 'Switch_One', true],
  ['please turn off the living room light', 'Living_Room_Light', 0],
  ['turn on the demo switch', 'Demo_Switch', true],
  ['turn off the demo switch', 'Demo_Switch', false],
  ['set the living room light to fifty percent', 'Living_Room_Light', 50],
  ['is the front door open'],
  ['what is the temperature'],
  ['what time is it'],
  ['what is seven times eight'],
  ['which lights are on'],
  ['how humid is it in the house'],
  ['please tell me what the weather will be tomorrow morning'],
  ['search my notes for the wireless password'],
  ['set the volume to forty percent'],
  ['remind me to take out the bins on thursday evening'],
]
const GOAL_MS = 1_000
const VOICES = [
  ['en-us', 160],
  ['en-gb', 160],
]

const soak = Number(process.argv[process.argv.indexOf('--soak') + 1]) || 0
const folder = mkdtempSync(join(tmpdir(), 'voice-bench-'))
const project = await openProject({ logger: () => stderrLogger('fatal'), say: text => console.error(text) })
const { executor, servers, config } = project
const chosen = await chooseClient({ executor, model: 'offline' })
const transcriber = new MoonshineTranscriber()
let firstSoundAt
const speaker = await findSpeaker({ voice: 'espeak-ng', outFile: join(folder, 'answers.wav') })
if (!speaker) throw new Error('espeak-ng is needed: apt-get install espeak-ng')
const startedAt = performance.now()
const gateway = await startVoice({
  executor,
  config: { ...config, voice: { microphone: false } },
  servers,
  client: whenToolsReady(chosen, () => servers.ready()),
  model: async () => chosen,
  logger: stderrLogger('fatal'),
  transcriber,
  speaker: {
    name: speaker.name,
    synthesize: (sentence, options) => speaker.synthesize(sentence, options),
    play: (wav, options) => {
      firstSoundAt ??= performance.now()
      return speaker.play(wav, options)
    },
  },
})
await gateway.ready()
console.log(
  `Ready after ${ms(performance.now() - startedAt)} ms: ${gateway
    .status()
    .map(({ name, durationMs }) => `${name} ${durationMs} ms`)
    .join(', ')}\n`,
)
const home = await watchHome(servers.home.brokerUrl)

const turns = []
for (const [voice, rate] of VOICES)
  for (const sentence of SENTENCES) turns.push(await hear(sentence, voice, rate))
printTurns(turns)
printSummary(turns)
await measureMicrophone()
if (soak > 0) await measureSoak(soak)

await home.close()
await gateway.close()
await servers.close()
rmSync(folder, { recursive: true })

/** One spoken sentence, handed in as a WAV file. */
async function hear([sentence, device, expected], voice, rate) {
  const wav = readFileSync(speak(sentence, voice, rate))
  if (device) await home.prepare(device, expected)
  firstSoundAt = undefined
  const handedIn = performance.now()
  const switched = device ? home.when(device, expected) : undefined
  const taken = gateway.transcriber.take({ wav, conversation: `${sentence} ${voice}` })
  if (!taken.accepted) throw new Error(taken.reason)
  const response = await taken.done
  const switchedAt = response.outcome === 'answered' && switched ? await switched.reached : undefined
  switched?.forget()
  return {
    sentence,
    device,
    voice,
    seconds: (await readWav(wav)).length / 16_000,
    heard: response.question,
    errors: wordErrors(sentence, response.question),
    words: wordsIn(sentence).length,
    transcribeMs: response.durations.transcribeMs,
    answerMs: response.durations.answerMs,
    switchedMs: switchedAt && switchedAt - handedIn,
    firstSoundMs: firstSoundAt && firstSoundAt - handedIn,
  }
}

/** From the last sound of a sentence, through a microphone that records in real time, until the device has switched. */
async function measureMicrophone() {
  const ready = SENTENCES.filter(
    ([sentence, device]) => device && turns.some(turn => turn.sentence === sentence && turn.switchedMs),
  )
  const times = []
  for (const [sentence, device, expected] of ready.slice(0, 6)) {
    await home.prepare(device, expected)
    const samples = await readWav(readFileSync(speak(sentence, ...VOICES[0])))
    const end = samples.findLastIndex(sample => Math.abs(sample) > 0.01)
    const [pcm, marker] = [join(folder, 'microphone.pcm'), join(folder, 'end-of-speech')]
    writeFileSync(pcm, writePcm(samples.slice(0, end + 1)))
    const switched = home.when(device, expected)
    const microphone = listenToMicrophone({
      command: {
        command: process.execPath,
        args: [fileURLToPath(new URL('real-time.mjs', import.meta.url)), pcm, marker],
      },
      detector: transcriber.speechDetector(),
      onUtterance: sound => void gateway.transcriber.take({ pcm: sound }),
      onProblem: problem => console.error(problem),
    })
    const at = await switched.reached
    switched.forget()
    if (at !== undefined) times.push(performance.timeOrigin + at - Number(readFileSync(marker, 'utf8')))
    await microphone.close()
    await gateway.transcriber.idle()
  }
  console.log(
    `\nThrough a microphone, from the last sound to the switched device (600 ms of silence included):`,
  )
  console.log(
    `  median ${ms(median(times))} ms, worst ${ms(Math.max(...times))} ms, ${times.length} of ${Math.min(6, ready.length)} sentences; goal < ${GOAL_MS} ms: ${Math.max(...times) < GOAL_MS ? 'reached' : 'missed'}`,
  )
}

/** Many utterances in a row: does the memory stay, also that of the speech model's process? */
async function measureSoak(count) {
  const wav = readFileSync(speak('turn on switch one', ...VOICES[0]))
  let isInOrder = true
  const sizes = []
  for (let n = 0; n < count; n++) {
    const taken = gateway.transcriber.take({ wav, id: String(n) })
    const { id, outcome } = await taken.done
    isInOrder &&= id === String(n) && outcome === 'answered'
    if ((n + 1) % Math.ceil(count / 5) === 0)
      sizes.push(`${megabytes(process.pid)} + ${megabytes(transcriber.processId)} MB`)
  }
  console.log(
    `\n${count} utterances in a row: order ${isInOrder ? 'kept' : 'LOST'}; memory of gateway + speech model: ${sizes.join(', ')}`,
  )
}

/** The devices of the home, as they report themselves. */
async function watchHome(url) {
  const client = await mqtt.connectAsync(url)
  const state = new Map()
  const watchers = new Set()
  client.on('message', (topic, payload) => {
    const device = topic.match(/^zwave\/([^/]+)\/.*\/currentValue$/)?.[1]
    if (!device) return
    const { value } = JSON.parse(payload.toString())
    state.set(device, value)
    for (const watch of watchers) watch(device, value)
  })
  await client.subscribeAsync('zwave/#')
  const when = (device, expected) => {
    let forget = () => {}
    const reached = new Promise(resolve => {
      const timer = setTimeout(resolve, 5_000)
      const watch = (name, value) =>
        name === device && isAsSaid(value, expected) && resolve(performance.now())
      watchers.add(watch)
      forget = () => {
        clearTimeout(timer)
        watchers.delete(watch)
      }
    })
    return { reached, forget: () => forget() }
  }
  return {
    when,
    /** So that there is something to switch. */
    async prepare(device, expected) {
      const action = expected === false || expected === 0 ? 'on' : 'off'
      await executor.run({
        name: 'control_zwave_device',
        args: { deviceName: device.replaceAll('_', ' '), action },
      })
    },
    close: () => client.endAsync(),
  }
}

/** A dimmer that is switched on goes to where it was. */
function isAsSaid(value, expected) {
  return expected === 'lit' ? value > 0 : value === expected
}

function speak(sentence, voice, rate) {
  const file = join(folder, 'sentence.wav')
  execFileSync('espeak-ng', ['-v', voice, '-s', String(rate), '-w', file, sentence])
  return file
}

function printTurns(all) {
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

function printSummary(all) {
  const rate = (100 * sum(all.map(({ errors }) => errors))) / sum(all.map(({ words }) => words))
  const devices = all.filter(({ device }) => device)
  const switched = devices.flatMap(({ switchedMs }) => (switchedMs ? [switchedMs] : []))
  const transcribed = all.map(({ transcribeMs }) => transcribeMs)
  console.log(`\nWord error rate ${rate.toFixed(1)} % on ${all.length} sentences of espeak-ng`)
  console.log(
    `Speech to text: median ${ms(median(transcribed))} ms, worst ${ms(Math.max(...transcribed))} ms`,
  )
  console.log(`Devices switched as said: ${switched.length} of ${devices.length}`)
  console.log(
    `From the end of the recording to the switched device: median ${ms(median(switched))} ms, worst ${ms(Math.max(...switched))} ms; goal < ${GOAL_MS} ms: ${Math.max(...switched) < GOAL_MS ? 'reached' : 'missed'}`,
  )
}

function megabytes(pid) {
  return Math.round(
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024,
  )
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}

function ms(value) {
  return value === undefined ? '' : Math.round(value)
}
