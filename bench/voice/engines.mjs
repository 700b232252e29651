// The voices of the test set: three speech synthesisers of Debian.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

/**
 * What each engine needs, which voices it has (those of espeak-ng always), and how one of them speaks many texts: `jobs`
 * are pairs of a text and a WAV file to be written, `settings` pairs of a name and a number.
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
 * Speaks `jobs` with a voice, `espeak-ng:en-us` or, with settings of its engine, `flite:slt duration_stretch=1.15`,
 * `espeak-ng:en-us s=150 p=40`.
 */
export function speakAll(voice, jobs, folder) {
  const { engine, name, settings } = partsOf(voice)
  ENGINES[engine].speak(name, jobs, { settings, folder })
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

/** Whether its engine, which is installed, has this voice. */
export function isThere(voice) {
  const { engine, name } = partsOf(voice)
  const { voices } = ENGINES[engine]
  return (
    voices === undefined ||
    voices()
      .toString()
      .split(/[\s()]+/)
      .includes(name)
  )
}

/** The Debian packages that are missing for these voices, and for sox. */
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
  return execFileSync('nice', ['-n', '19', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  })
}
