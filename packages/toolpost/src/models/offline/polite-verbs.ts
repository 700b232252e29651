import type { Word } from './words.ts'

/*
 * Polite phrases that change the form of the verb: "would you mind turning it off", "I'd appreciate it if you turned it off".
 */

/** Phrases, one per line, sorted longest first. */
export function phrases(lines: string): string[][] {
  return lines
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .map(phrase => phrase.split(' '))
    .sort((a, b) => b.length - a.length)
}

/** Verb → its forms after "would you mind" and after "I'd appreciate it if you". */
const FORMS: Readonly<Record<string, string>> = {
  turn: 'turning turned',
  switch: 'switching switched',
  put: 'putting put',
  set: 'setting set',
  dim: 'dimming dimmed',
  open: 'opening opened',
  close: 'closing closed',
  shut: 'shutting shut',
  lock: 'locking locked',
  make: 'making made',
  raise: 'raising raised',
  lower: 'lowering lowered',
  mute: 'muting muted',
  start: 'starting started',
  activate: 'activating activated',
  check: 'checking checked',
  tell: 'telling told',
}
const verbs = (form: 0 | 1) =>
  new Map(Object.entries(FORMS).map(([verb, forms]) => [forms.split(' ')[form], verb]))

/** What comes before a verb, and the verbs in the form it needs. */
const BEFORE_VERBS: readonly (readonly [readonly string[][], ReadonlyMap<string | undefined, string>])[] = [
  [
    phrases(`
      would you mind
      do you mind
    `),
    verbs(0),
  ],
  [
    phrases(`
      would you mind if you
      i would appreciate it if you
      i would be grateful if you
      i would love it if you
      i would like it if you
      it would be great if you
      it would be nice if you
      it would be good if you
      it would be lovely if you
      it would help if you
    `),
    verbs(1),
  ],
]

/** Drops such a phrase and restores the plain form of the verb. */
export function withoutMind(words: Word[]): Word[] {
  for (const [before, forms] of BEFORE_VERBS) {
    const polite = before.find(phrase => isAt(words, 0, phrase))
    const [first, ...rest] = words.slice(polite?.length)
    const verb = polite && first && forms.get(first.key)
    if (first && verb) return [{ ...first, key: verb }, ...rest]
  }
  return words
}

export function isAt(words: readonly Word[], at: number, phrase: readonly string[]): boolean {
  return at >= 0 && phrase.every((key, offset) => words[at + offset]?.key === key)
}
