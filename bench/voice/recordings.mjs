// The recordings of the test set: every voice of a half says every sentence of that half, under every condition.
// node bench/voice/recordings.mjs <folder> keeps them, with a manifest.json.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeWav } from '../../packages/voice-gateway/dist/audio/wav.js'
import { isThere, missingPackages, partsOf, run, speakAll } from './engines.mjs'

const read = name => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
const { commands, nothing } = read('sentences.json')
export const SPLIT = read('split.json')
/** The same for homes with other devices: what must do nothing there is listed apart. */
export const OTHER_HOMES = read('other-homes.json')
/** What a sentence must do: `{nothing: true}`, or its entry in `commands`. */
const EXPECTED = new Map([
  ...commands.map(command => [command.say, command]),
  ...nothing.map(say => [say, { nothing: true }]),
])

/** What is done to a clean recording: sox effects, or pink noise at a signal-to-noise ratio in dB. */
export const CONDITIONS = {
  clean: {},
  'pink 20 dB': { snr: 20 },
  'pink 10 dB': { snr: 10 },
  reverb: { effects: ['reverb', '50', '50', '80'] },
  telephone: { effects: ['sinc', '300-3400', 'rate', '8k', 'rate', '16k'] },
  'speed 0.8': { effects: ['tempo', '-s', '0.8'] },
  'speed 1.25': { effects: ['tempo', '-s', '1.25'] },
}
const RATE = 16_000
const NOISE_SECONDS = 60

/** The manifest's entries for a choice of halves, voices and conditions; records nothing yet. */
export function plan({ halves, voices, conditions }) {
  return halves.flatMap(half => {
    const { voices: own, sentences, nothing: ignored = [] } = SPLIT[half] ?? OTHER_HOMES[half]
    const chosen = own.filter(voice => voices.length === 0 || voices.some(part => voice.includes(part)))
    const expectedOf = sentence =>
      ignored.includes(sentence) ? { nothing: true } : (EXPECTED.get(sentence) ?? {})
    return chosen.flatMap(voice =>
      [...sentences, ...ignored].flatMap(sentence =>
        conditions.map(condition => ({
          file: `${[voice, condition, sentence].join('_').replaceAll(/[^\w.+-]+/g, '-')}.wav`,
          voice,
          engine: partsOf(voice).engine,
          condition,
          sentence,
          expected: expectedOf(sentence),
          half,
        })),
      ),
    )
  })
}

/** Records what is planned; throws if packages are missing. A voice that is not installed or fails is left out, with a message. */
export function record(planned, folder) {
  const recordings = sayable(planned)
  const voices = [...new Set(recordings.map(({ voice }) => voice))]
  const recorded = []
  mkdirSync(folder, { recursive: true })
  const noise = samplesOf(['-R', '-n'], ['synth', String(NOISE_SECONDS), 'pinknoise'])
  for (const voice of voices) {
    const ofVoice = recordings.filter(recording => recording.voice === voice)
    const sentences = [...new Set(ofVoice.map(({ sentence }) => sentence))]
    const spoken = new Map(sentences.map((sentence, n) => [sentence, join(folder, `spoken-${n}.wav`)]))
    if (!canSpeak(voice, [...spoken], folder)) continue
    for (const { sentence, condition, file } of ofVoice) {
      const { effects, snr } = CONDITIONS[condition]
      const samples = samplesOf([spoken.get(sentence)], effects)
      const heard = snr === undefined ? samples : withNoise(samples, noise, snr)
      writeFileSync(join(folder, file), writeWav(heard))
    }
    for (const file of spoken.values()) rmSync(file)
    recorded.push(...ofVoice)
  }
  return recorded
}

function canSpeak(voice, jobs, folder) {
  try {
    speakAll(voice, jobs, folder)
    return true
  } catch (error) {
    console.log(`left out: the voice ${voice} cannot speak: ${error.message.split('\n')[1]}`)
    return false
  }
}

function sayable(planned) {
  const voices = [...new Set(planned.map(({ voice }) => voice))]
  const missing = missingPackages(voices)
  if (missing.length > 0) throw new Error(`missing: apt-get install -y ${missing.join(' ')}`)
  const absent = voices.filter(voice => !isThere(voice))
  for (const voice of absent) console.log(`left out: the voice ${voice} is not installed`)
  return planned.filter(({ voice }) => !absent.includes(voice))
}

/** Through sox: mono, 16 kHz, as loud as somebody nearby, with a little silence at both ends. */
function samplesOf(input, effects = []) {
  const output = ['-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1', '-r', String(RATE), '-']
  const bytes = run('sox', [...input, ...output, ...effects, 'gain', '-n', '-6', 'pad', '0.2', '0.2'])
  return Float32Array.from({ length: bytes.length / 2 }, (_, n) => bytes.readInt16LE(2 * n) / 32_768)
}

/** Adds noise `snr` dB below the speech; each sentence gets a different piece of it. */
function withNoise(samples, noise, snr) {
  const factor = (power(samples) / power(noise)) * 10 ** (-snr / 20)
  const offset = (samples.length * 7) % (noise.length - samples.length)
  return samples.map((sample, n) => sample + factor * noise[offset + n])
}

function power(samples) {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)
  if (!folder) throw new Error('usage: node bench/voice/recordings.mjs <folder>')
  const all = plan({ halves: Object.keys(SPLIT), voices: [], conditions: Object.keys(CONDITIONS) })
  const recorded = record(all, folder)
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(recorded, null, 1)}\n`)
  console.log(`${recorded.length} recordings in ${folder}`)
}
