// The voices of the test set: three speech synthesisers of Debian.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

/** What each engine needs, and how it speaks many texts: `jobs` are pairs of a text and a WAV file to be written. */
const ENGINES = {
  'espeak-ng': {
    programs: ['espeak-ng'],
    install: 'espeak-ng',
    speak: (voice, jobs) => {
      for (const [text, file] of jobs) run('espeak-ng', ['-v', voice, '-s', '160', '-w', file, text])
    },
  },
  flite: {
    programs: ['flite'],
    install: 'flite',
    speak: (voice, jobs) => {
      for (const [text, file] of jobs) run('flite', ['-voice', voice, '-t', text, '-o', file])
    },
  },
  festival: {
    programs: ['festival'],
    install: 'festival festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts',
    speak: (voice, jobs, folder) => {
      const save = ([text, file]) =>
        `(utt.save.wave (utt.synth (Utterance Text ${JSON.stringify(text)})) ${JSON.stringify(file)} 'riff)`
      const script = `${folder}/festival.scm`
      writeFileSync(script, [`(voice_${voice})`, ...jobs.map(save)].join('\n'))
      run('festival', ['-b', script])
    },
  },
}

/** Speaks `jobs` with a voice, `espeak-ng:en-us`. */
export function speakAll(voice, jobs, folder) {
  const [engine, name] = partsOf(voice)
  ENGINES[engine].speak(name, jobs, folder)
}

export function partsOf(voice) {
  const colon = voice.indexOf(':')
  return [voice.slice(0, colon), voice.slice(colon + 1)]
}

/** The Debian packages that are missing for these voices, and for sox. */
export function missingPackages(voices) {
  const engines = new Set(voices.map(voice => partsOf(voice)[0]))
  const unknown = [...engines].filter(name => !Object.hasOwn(ENGINES, name))
  if (unknown.length > 0)
    throw new Error(`unknown engine ${unknown.join(', ')}; expected ${Object.keys(ENGINES).join(', ')}`)
  const needed = [{ programs: ['sox'], install: 'sox' }, ...[...engines].map(name => ENGINES[name])]
  return needed.filter(({ programs }) => !programs.every(isInstalled)).map(({ install }) => install)
}

function isInstalled(program) {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export function run(program, args) {
  return execFileSync('nice', ['-n', '19', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  })
}
