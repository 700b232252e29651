// Runs the test set's recordings through the product: what each command does, and how long it takes.
// npm run bench:voice [-- --half tuning|held-out|second|third|fourth|fifth|unseen|seventh|eighth|ninth|all --voices flite,en-us --condition clean,reverb --sample 100 --realtime]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findSpeaker } from '../../packages/voice-gateway/dist/index.js'
import { HOME } from './home.mjs'
import { hear } from './judge.mjs'
import { CONDITIONS, plan, record, SPLIT } from './recordings.mjs'
import { printConditions, printGoals, printMisses } from './report.mjs'
import { gatewayMemory, openSession, speechMemory } from './session.mjs'
import { microphoneStandIn } from './stand-in.mjs'

const { values: options } = parseArgs({
  options: {
    half: { type: 'string', default: 'unseen' },
    /** Only voices whose name contains one of these parts. */
    voices: { type: 'string', default: '' },
    condition: { type: 'string', default: '' },
    /** This many recordings per condition, the same each time. */
    sample: { type: 'string' },
    /** Through a stand-in for the microphone. */
    realtime: { type: 'boolean', default: false },
    /** A folder of existing recordings. */
    recordings: { type: 'string' },
    /** Print every recording that was not right. */
    misses: { type: 'boolean', default: false },
    /** Write all turns to a file, as JSON. */
    json: { type: 'string' },
    /** Only the recordings, without the further measurements. */
    quick: { type: 'boolean', default: false },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'voice-bench-'))
/** Ctrl-C prints the figures so far. */
let isEnough = false
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    isEnough = true
  })
try {
  await bench()
} finally {
  rmSync(folder, { recursive: true })
}

async function bench() {
  const recordings = options.recordings ? chosen() : record(chosen(), folder)
  const count = key => new Set(recordings.map(recording => recording[key])).size
  console.log(`${recordings.length} recordings, ${count('voice')} voices, ${count('sentence')} sentences`)
  const standIn = options.realtime ? await microphoneStandIn(folder) : undefined
  const session = await openSession({ microphone: options.realtime })
  const load = `load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`
  console.log(`Ready after ${session.readyMs} ms; speech model ${speechMemory()} MB; ${load}\n`)
  const turns = await hearAll(recordings, session, standIn?.send ?? asFile)
  const memoryMb = speechMemory()
  console.log(`Memory at the end: gateway ${gatewayMemory()} MB, speech model ${memoryMb} MB\n`)
  await session.close()
  standIn?.close()
  printConditions(turns)
  if (options.misses) printMisses(turns)
  if (options.json) writeFileSync(options.json, JSON.stringify(turns, null, 1))
  if (options.quick || isEnough) return
  const manyDevices = await withManyDevices(recordings)
  printGoals({ turns, manyDevices, firstSounds: await firstSounds(), memoryMb })
}

function chosen() {
  const { half, sample } = options
  const halves = half === 'all' ? Object.keys(SPLIT) : [half]
  const conditions = options.condition ? listed(options.condition) : Object.keys(CONDITIONS)
  for (const [names, known] of [
    [halves, SPLIT],
    [conditions, CONDITIONS],
  ])
    if (!names.every(name => Object.hasOwn(known, name)))
      throw new Error(`invalid ${names}; expected one of ${Object.keys(known).join(', ')}`)
  const all = plan({ halves, voices: listed(options.voices), conditions })
  if (all.length === 0) throw new Error(`no voice of this half is called ${options.voices}`)
  if (sample === undefined) return all
  return conditions.flatMap((condition, seed) => {
    const of = all.filter(recording => recording.condition === condition)
    return shuffled(of, seed).slice(0, Number(sample))
  })
}

function listed(text) {
  return text === '' ? [] : text.split(',').map(part => part.trim())
}

/** In a reproducible order (mulberry32). */
function shuffled(items, seed = 0) {
  let state = seed
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return items
    .map(item => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

async function hearAll(recordings, session, send) {
  const turns = []
  for (const recording of recordings) {
    if (isEnough) break
    const file = join(options.recordings ?? folder, recording.file)
    turns.push(await hear(recording, session, turn => send(file, turn)))
    if (process.stderr.isTTY) process.stderr.write(`\r${turns.length} of ${recordings.length} `)
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  return turns
}

/** Passes it in as a WAV file; the sound ends at that moment. */
async function asFile(file, turn) {
  const wav = readFileSync(file)
  const endOfSound = performance.now()
  await turn.take({ wav })
  return endOfSound
}

/** Clean commands in a home of 200 devices. */
async function withManyDevices(recordings) {
  const clean = recordings.filter(({ condition, expected }) => condition === 'clean' && expected.state)
  if (clean.length === 0) return []
  const rooms = 'Kitchen Bathroom Bedroom Office Cellar Attic Hall Studio Nursery Garden'.split(' ')
  const things = 'Lamp Fan Socket Radiator Curtain Speaker Heater Mirror Plug Kettle'.split(' ')
  const names = rooms.flatMap(room => things.flatMap(thing => [`${room} ${thing}`, `Left ${room} ${thing}`]))
  const more = names.slice(0, 200 - HOME.devices.length).map(name => ({ name, values: [{ type: 'switch' }] }))
  const session = await openSession({ devices: [...HOME.devices, ...more] })
  const turns = await hearAll(shuffled(clean).slice(0, 30), session, asFile)
  await session.close()
  return turns
}

/** From the switched device to the start of the player, with espeak-ng. */
async function firstSounds() {
  const voice = await findSpeaker({ voice: 'espeak-ng', outFile: join(folder, 'answers.wav') })
  let begun = () => {}
  const play = (wav, how) => {
    begun(performance.now())
    return voice.play(wav, how)
  }
  const speaker = { name: voice.name, synthesize: (text, how) => voice.synthesize(text, how), play }
  const session = await openSession({ speaker })
  const times = []
  for (let n = 0; n < 10; n++) {
    await session.home.prepare()
    const first = new Promise(resolve => {
      begun = resolve
    })
    const switched = session.home.reaches({ 'Switch One': true }, 5_000)
    await session.begin('yes').take({ text: 'turn on switch one' })
    times.push((await first) - (await switched))
  }
  await session.close()
  return times
}
