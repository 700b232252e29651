import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { readData } from '../data.ts'
import { saidWords } from '../speech-to-text/spoken-numbers.ts'

interface PhoneData {
  readonly vowels: readonly string[]
  /** Sounds that are swallowed in fluent speech. */
  readonly swallowed: readonly string[]
  /** Pairs of sounds that a microphone, an accent or a small model confuses. */
  readonly alike: readonly string[]
  /** Letter rules for words that no dictionary has, longer ones first; `^` is the beginning of a word and `$` its end. */
  readonly letters: ReadonlyArray<readonly [letters: string, phones: string]>
}

/** How two sequences of phones differ. */
interface PhoneDifference {
  /** Of turning one into the other: about 1 for each phone that differs. */
  cost: number
  /** The longest run of phones that only one of them has: a word that was dropped or made up. */
  longestGap: number
}

/** The best way to align the beginnings of two sequences. */
interface Cell {
  cost: number
  /** The gap that it ends with; gaps are on one side at a time. */
  gap: number
  side?: 'a' | 'b'
  longest: number
}

const { vowels, swallowed, alike, letters: LETTERS } = readData<PhoneData>('phones.json')
const VOWELS = new Set(vowels)
const SWALLOWED = new Set(swallowed)
const ALIKE = new Set(alike.flatMap(pair => [pair, pair.split(' ').reverse().join(' ')]))
const COSTS = { alike: 0.3, vowels: 0.5, consonants: 0.9, vowelForConsonant: 1, gap: 0.8, swallowed: 0.45 }
/** Enough for one home and what is said in it. */
const REMEMBERED_WORDS = 20_000

const known = new Map<string, readonly string[]>()
let dictionary: Buffer | undefined

/** How a text is pronounced, in ARPABET without stress: from the CMU dictionary, else by letter rules. */
export function phonesOf(text: string): string[] {
  return saidWords(text).flatMap(word => {
    const phones = known.get(word) ?? lookUp(word) ?? byLetters(word)
    if (known.size >= REMEMBERED_WORDS) known.clear()
    known.set(word, phones)
    return phones
  })
}

/** The dictionary stays a raw file: parsed, it would take 60 MB and half a second. */
function lookUp(word: string): string[] | undefined {
  dictionary ??= readFileSync(createRequire(import.meta.url).resolve('cmu-pronouncing-dictionary'))
  const entry = `\n  "${word}": "`
  const at = dictionary.indexOf(entry)
  if (at < 0) return undefined
  const start = at + entry.length
  return dictionary.toString('latin1', start, dictionary.indexOf('"', start)).replaceAll(/\d/g, '').split(' ')
}

function byLetters(word: string): string[] {
  // Without accents: "café" is said as "cafe". Double consonants are pronounced once.
  const plain = word.normalize('NFD').replaceAll(/[^a-z]/g, '')
  const letters = `^${plain.replaceAll(/([^aeiou])\1/g, '$1')}$`
  const phones: string[] = []
  for (let at = 1; at < letters.length - 1; ) {
    const rule = LETTERS.find(([pattern]) =>
      letters.startsWith(pattern, pattern.startsWith('^') ? at - 1 : at),
    )
    phones.push(...(rule?.[1].split(' ').filter(Boolean) ?? []))
    at += Math.max(1, rule?.[0].replace(/[$^]/g, '').length ?? 1)
  }
  return phones
}

/** Compares by the cheapest alignment; of ways that cost the same, the one with the shortest gap. */
export function comparePhones(a: readonly string[], b: readonly string[]): PhoneDifference {
  let row: Cell[] = [{ cost: 0, gap: 0, longest: 0 }]
  for (const phone of b) row.push(gapped(row.at(-1) as Cell, 'b', phone))
  for (const phone of a) {
    const next = [gapped(row[0] as Cell, 'a', phone)]
    b.forEach((other, at) => {
      const { cost, longest } = row[at] as Cell
      const ways: Cell[] = [
        { cost: cost + substitution(phone, other), gap: 0, longest },
        gapped(row[at + 1] as Cell, 'a', phone),
        gapped(next[at] as Cell, 'b', other),
      ]
      next.push(ways.sort((one, two) => one.cost - two.cost || one.longest - two.longest)[0] as Cell)
    })
    row = next
  }
  const { cost, longest } = row.at(-1) as Cell
  return { cost, longestGap: longest }
}

function gapped(before: Cell, side: 'a' | 'b', phone: string): Cell {
  const gap = before.side === side ? before.gap + 1 : 1
  const cost = before.cost + (SWALLOWED.has(phone) ? COSTS.swallowed : COSTS.gap)
  return { cost, gap, side, longest: Math.max(before.longest, gap) }
}

function substitution(phone: string, other: string): number {
  if (phone === other) return 0
  if (ALIKE.has(`${phone} ${other}`)) return COSTS.alike
  if (VOWELS.has(phone) !== VOWELS.has(other)) return COSTS.vowelForConsonant
  return VOWELS.has(phone) ? COSTS.vowels : COSTS.consonants
}
