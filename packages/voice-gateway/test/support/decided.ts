import { decide } from '../../src/listening/decide.ts'
import type { Meaning } from '../../src/listening/grammar.ts'
import type { Heard } from '../../src/listening/heard.ts'
import { Pronunciation } from '../../src/listening/pronunciation.ts'
import type { Listened } from '../../src/speech-to-text/transcriber.ts'

const pronunciation = new Pronunciation()
const NOTHING: Meaning = { kind: 'nothing', key: '', changes: false }

/** Understands two dimmable devices and the time. */
function understand(text: string): Meaning {
  const words = text
    .toLowerCase()
    .replaceAll(/[^a-z ]/g, '')
    .replace(/^then /, '')
  const [, action, device] =
    /^(?:please )?turn (on|off) (?:the )?(switch one|switch won|living room light)$/.exec(words) ?? []
  if (action) return { kind: 'act', key: `${device} ${action}`, changes: true }
  const [, level] = /^dim the living room light to (thirty|thirteen) percent$/.exec(words) ?? []
  if (level) return { kind: 'act', key: `light ${level}`, changes: true }
  if (/^what (time is it|is the time)$/.test(words)) return { kind: 'tell', key: 'time', changes: false }
  if (/^is (the )?switch one on$/.test(words))
    return { kind: 'tell', key: 'is switch one on', changes: false }
  if (/^(the )?switch one on$/.test(words)) return { kind: 'act', key: 'switch one on', changes: true }
  if (/^turn off switches$/.test(words))
    return { kind: 'act', key: 'switch one off + demo switch off', changes: true }
  const [lights, asked] = /^(is )?the lights off$/.exec(words) ?? []
  if (lights) return { kind: asked ? 'tell' : 'act', key: lights, changes: !asked }
  const [blinds, all] = /^(all|are) the blinds closed$/.exec(words) ?? []
  if (blinds) return { kind: all === 'all' ? 'act' : 'tell', key: blinds, changes: all === 'all' }
  if (/^turn the living room lights up$/.test(words)) return { kind: 'act', key: words, changes: true }
  if (/^search for/.test(words)) return { kind: 'tell', key: words, changes: false }
  if (/^what is (the|my) /.test(words)) return { kind: 'tell', key: words, changes: false, isGuess: true }
  if (/^what is .* plus /.test(words)) return { kind: 'tell', key: words, changes: false }
  if (/^(un)?mute the sound$/.test(words)) return { kind: 'act', key: words, changes: true }
  const [, who] = /^(did|could) you turn on the lamp$/.exec(words) ?? []
  if (who) return { kind: who === 'did' ? 'tell' : 'act', key: words, changes: who === 'could' }
  if (/^dont turn/.test(words)) return { kind: 'talk', key: words, changes: false }
  return NOTHING
}

/** Decides on a recorded free transcript and the sentences matched, each as `text score`. */
export function decided(
  free: string,
  sentences: readonly string[],
  soundAlikes: readonly string[] = [],
  isRefusal = false,
): Heard {
  const read = (line: string) => {
    const at = line.lastIndexOf(' ')
    return { text: line.slice(0, at), score: Number(line.slice(at)) }
  }
  const listened: Listened = { ...read(free), sentences: sentences.map(read) }
  return decide(listened, {
    understand,
    phonesOf: word => pronunciation.phonesOf(word),
    soundAlikes: () => soundAlikes,
    isRefusal,
  })
}
