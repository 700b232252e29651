// The voices of the test set: three speech synthesisers from Debian.
import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'

/**
 * What each engine needs, which voices it has (espeak-ng's are always installed), and how a voice speaks many texts: `jobs`
 * are pairs of a text and a WAV file to write, `settings` pairs of a name and a number.
 */
const ENGINES = {
  'espeak-ng': {
    programs: ['espeak-ng'],
    install: 'espeak-ng',
    speak: (voice, jobs, { settings }) => {
      const set = [['s', '160'], ...settings].flatMap(([name, value]) => [`-${name}`, value])
      for (const [text, file] of jobs) run('espeak-ng', ['-v', voice, ...set, '-w', file, text])
    },
  },
  flite: {
    programs: ['flite'],
    install: 'flite',
    voices: () => run('flite', ['-lv']),
    speak: (voice, jobs, { settings }) => {
      const set = settings.flatMap(setting => ['--setf', setting.join('=')])
      for (const [text, file] of jobs) run('flite', ['-voice', voice, ...set, '-t', text, '-o', file])
    },
  },
  festival: {
    programs: ['festival'],
    install: 'festival festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts',
    voices: () => run('festival', ['-b', '(print (voice.list))']),
    speak: (voice, jobs, { settings, folder }) => {
      const save = ([text, file]) =>
        `(utt.save.wave (utt.synth (Utterance Text ${JSON.stringify(text)})) ${JSON.stringify(file)} 'riff)`
      const script = `${folder}/festival.scm`
      const set = settings.map(([name, value]) => `(Parameter.set '${name} ${value})`)
      writeFileSync(script, [`(voice_${voice})`, ...set, ...jobs.map(save)].join('\n'))
      run('festival', ['-b', script])
    },
  },
}

/**
 * Speaks `jobs` with a voice: `espeak-ng:en-us` or, with settings for its engine, `flite:slt duration_stretch=1.15`,
 * `espeak-ng:en-us s=150 p=40`, or turned into another speaker with sox, `flite:rms sox-speed=0.92`.
 */
export function speakAll(voice, jobs, folder) {
  const { engine, name, settings } = partsOf(voice)
  const isEffect = ([setting]) => setting.startsWith('sox-')
  ENGINES[engine].speak(name, jobs, { settings: settings.filter(one => !isEffect(one)), folder })
  const effects = settings.filter(isEffect).flatMap(([effect, value]) => [effect.slice(4), value])
  if (effects.length > 0) for (const [, file] of jobs) alter(file, effects)
}

function alter(file, effects) {
  const altered = `${file}.altered.wav`
  run('sox', [file, altered, 'gain', '-3', ...effects])
  renameSync(altered, file)
}

export function partsOf(voice) {
  const [full, ...settings] = voice.split(' ')
  const colon = full.indexOf(':')
  return {
    engine: full.slice(0, colon),
    name: full.slice(colon + 1),
    settings: settings.map(setting => setting.split('=')),
  }
}

/** Whether the voice is installed; its engine must be. */
export function isThere(voice) {
  const { engine, name } = partsOf(voice)
  const installed = ENGINES[engine]
    .voices?.()
    .toString()
    .split(/[\s()]+/)
  return installed === undefined || installed.includes(name)
}

/** The missing Debian packages for these voices, including sox. */
export function missingPackages(voices) {
  const engines = new Set(voices.map(voice => partsOf(voice).engine))
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
  const options = { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 }
  return execFileSync('nice', ['-n', '19', program, ...args], options)
}
