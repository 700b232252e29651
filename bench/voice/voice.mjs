// Spoken sentences through the built package: what is heard, and how long each stage takes, until a device has switched.
// npm run bench:voice [-- --soak 1000]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openProject, stderrLogger } from 'toolpost/project'
import { listenToMicrophone } from '../../packages/voice-gateway/dist/audio/microphone.js'
import { readWav } from '../../packages/voice-gateway/dist/audio/read-wav.js'
import { writePcm } from '../../packages/voice-gateway/dist/audio/write-pcm.js'
import { findSpeaker, MoonshineTranscriber, startVoice } from '../../packages/voice-gateway/dist/index.js'
import { watchHome } from './home.mjs'
import { latency, ms, printSummary, printTurns } from './report.mjs'
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
/** After so much silence an utterance has ended (packages/voice-gateway/src/audio/utterance-cutter.ts). */
const QUIET_MS = 600
const VOICES = [
  ['en-us', 160],
  ['en-gb', 160],
]

const soak = Number(process.argv[process.argv.indexOf('--soak') + 1]) || 0
const folder = mkdtempSync(join(tmpdir(), 'voice-bench-'))
const project = await openProject({
  logger: () => stderrLogger('fatal'),
  say: text => console.error(text),
  model: { wanted: 'offline' },
})
const { executor } = project
const transcriber = new MoonshineTranscriber()
let firstSoundAt
const speaker = await findSpeaker({ voice: 'espeak-ng', outFile: join(folder, 'answers.wav') })
if (!speaker) throw new Error('espeak-ng is needed: apt-get install espeak-ng')
const startedAt = performance.now()
const gateway = await startVoice({
  project,
  voice: { microphone: false },
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
const { brokerUrl } = await project.exampleHome()
const home = await watchHome(brokerUrl, executor)

const turns = []
for (const [voice, rate] of VOICES)
  for (const sentence of SENTENCES) turns.push(await hear(sentence, voice, rate))
printTurns(turns)
printSummary(turns)
await measureMicrophone()
if (soak > 0) await measureSoak(soak)

await home.close()
await gateway.close()
await project.close()
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
  ).slice(0, 6)
  const times = []
  const heard = []
  for (const [sentence, device, expected] of ready) {
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
      onUtterance: async pcm => {
        const { done } = gateway.transcriber.take({ pcm })
        heard.push(`"${sentence}" as "${(await done)?.question}"`)
      },
      onProblem: problem => console.error(problem),
    })
    const at = await switched.reached
    switched.forget()
    if (at !== undefined) times.push(performance.timeOrigin + at - Number(readFileSync(marker, 'utf8')))
    await microphone.close()
    await gateway.transcriber.idle()
  }
  console.log(
    `\nThrough a microphone, from the last sound to the switched device, ${QUIET_MS} ms of silence included:`,
  )
  console.log(`  ${times.length} of ${ready.length} heard well enough; ${latency(times)}`)
  console.log(`  heard ${heard.join(', ')}`)
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

function speak(sentence, voice, rate) {
  const file = join(folder, 'sentence.wav')
  execFileSync('espeak-ng', ['-v', voice, '-s', String(rate), '-w', file, sentence])
  return file
}

function megabytes(pid) {
  return Math.round(
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024,
  )
}
