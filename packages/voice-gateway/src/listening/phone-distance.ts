/** How two sequences of phones differ. */
export interface PhoneDifference {
  /** 0 is identical, 1 nothing in common: the cost of turning one into the other, per phone of the longer one. */
  distance: number
  /** The longest run of phones that only one of them has: a word that was dropped or made up. */
  longestGap: number
  /** How much differs in one place, above what is usual: another word costs 1 and more, another spelling less than 0.6. */
  worstPlace: number
}

const VOWELS = new Set('AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW'.split(' '))
/** Sounds that a microphone, an accent or a small model confuses. */
const ALIKE = groups(
  'P B|T D|K G|F V|S Z|TH DH|SH ZH|CH JH|TH F|DH V|M N|N NG|L R|R W|L W|D DH|T TH|T CH|S SH|D JH',
)
const ALIKE_VOWELS = groups(
  'AA AO|AA AH|AE EH|AH UH|AH IH|AH ER|AH EH|IH IY|IH EH|EY EH|EY IY|AO OW|UH UW|OW UW|AW AA|AY AA|AY IH|OY AO|ER AO|AE AH|AE AA|EY AY',
)
const COSTS = { alike: 0.35, alikeVowels: 0.25, vowels: 0.5, consonants: 0.9, gap: 0.8, softGap: 0.45 }
/** Sounds that are swallowed in fluent speech. */
const SOFT = new Set(['AH', 'HH', 'IH', 'T', 'D', 'R', 'ER'])

interface Cell {
  cost: number
  /** The gap that the path to this cell ends with; gaps are on one side at a time. */
  gap: number
  side: 'a' | 'b' | undefined
  longest: number
  place: number
  worst: number
}

/** A difference of less than this per phone is usual. */
const USUAL_COST = 0.3

/** Compares by the cheapest alignment, which also determines the longest gap. */
export function comparePhones(a: readonly string[], b: readonly string[]): PhoneDifference {
  const start: Cell = { cost: 0, gap: 0, side: undefined, longest: 0, place: 0, worst: 0 }
  let row = [start]
  for (const phone of b) row.push(gapped(row.at(-1) as Cell, phone, 'b'))
  for (const phone of a) {
    const next = [gapped(row[0] as Cell, phone, 'a')]
    b.forEach((other, index) => {
      const ways = [
        paired(row[index] as Cell, phone, other),
        gapped(row[index + 1] as Cell, phone, 'a'),
        gapped(next[index] as Cell, other, 'b'),
      ]
      next.push(ways.reduce((best, way) => (isBetter(way, best) ? way : best)))
    })
    row = next
  }
  const { cost, longest, worst } = row.at(-1) as Cell
  return { distance: cost / Math.max(1, a.length, b.length), longestGap: longest, worstPlace: worst }
}

function isBetter(way: Cell, best: Cell): boolean {
  return way.cost < best.cost || (way.cost === best.cost && way.longest < best.longest)
}

function paired(before: Cell, phone: string, other: string): Cell {
  return { ...before, ...added(before, substitution(phone, other)), gap: 0, side: undefined }
}

function gapped(before: Cell, phone: string, side: 'a' | 'b'): Cell {
  const gap = before.side === side ? before.gap + 1 : 1
  const costs = added(before, SOFT.has(phone) ? COSTS.softGap : COSTS.gap)
  return { ...costs, gap, side, longest: Math.max(before.longest, gap) }
}

function added(before: Cell, cost: number): Pick<Cell, 'cost' | 'place' | 'worst'> {
  const place = Math.max(0, before.place + cost - USUAL_COST)
  return { cost: before.cost + cost, place, worst: Math.max(before.worst, place) }
}

function substitution(phone: string, other: string): number {
  if (phone === other) return 0
  if (VOWELS.has(phone) && VOWELS.has(other)) {
    return ALIKE_VOWELS.has(`${phone} ${other}`) ? COSTS.alikeVowels : COSTS.vowels
  }
  if (VOWELS.has(phone) !== VOWELS.has(other)) return 1
  return ALIKE.has(`${phone} ${other}`) ? COSTS.alike : COSTS.consonants
}

function groups(pairs: string): ReadonlySet<string> {
  return new Set(pairs.split('|').flatMap(pair => [pair, pair.split(' ').reverse().join(' ')]))
}
