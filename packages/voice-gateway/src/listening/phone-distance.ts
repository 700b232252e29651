/** How two sequences of phones differ. */
export interface PhoneDifference {
  /** 0 is identical, 1 nothing in common: the cost of turning one into the other, per phone of the longer one. */
  distance: number
  /** The longest run of phones that only one of them has: a word that was dropped or made up. */
  longestGap: number
  /** How much differs in one place, beyond the usual: a different word costs 1 or more, a different spelling less than 0.6. */
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

/** Compares by the cheapest alignment, which also determines the longest gap. Only the cheapest way to a cell is followed up. */
export function comparePhones(a: readonly string[], b: readonly string[]): PhoneDifference {
  const start: Cell = { cost: 0, gap: 0, side: undefined, longest: 0, place: 0, worst: 0 }
  let row = [start]
  for (const phone of b) row.push(gapped(row.at(-1) as Cell, 'b', gapCost(phone)))
  for (const phone of a) {
    const cost = gapCost(phone)
    const next = [gapped(row[0] as Cell, 'a', cost)]
    for (let index = 0; index < b.length; index++) {
      const other = b[index] as string
      const [diagonal, above, left] = [row[index], row[index + 1], next[index]] as [Cell, Cell, Cell]
      const differs = substitution(phone, other)
      const costs = [diagonal.cost + differs, above.cost + cost, left.cost + gapCost(other)] as const
      const longests = [diagonal.longest, withGap(above, 'a'), withGap(left, 'b')] as const
      const way = cheapest(costs, longests)
      if (way === 0) next.push(paired(diagonal, differs))
      else next.push(way === 1 ? gapped(above, 'a', cost) : gapped(left, 'b', gapCost(other)))
    }
    row = next
  }
  const { cost, longest, worst } = row.at(-1) as Cell
  return { distance: cost / Math.max(1, a.length, b.length), longestGap: longest, worstPlace: worst }
}

type Three = readonly [number, number, number]

/** Of ways that cost the same, the one with the shortest gap. */
function cheapest(costs: Three, longests: Three): 0 | 1 | 2 {
  const isBetter = (way: 1 | 2, best: 0 | 1) =>
    costs[way] < costs[best] || (costs[way] === costs[best] && longests[way] < longests[best])
  const best = isBetter(1, 0) ? 1 : 0
  return isBetter(2, best) ? 2 : best
}

function paired(before: Cell, cost: number): Cell {
  return extended(before, cost, { gap: 0, side: undefined, longest: before.longest })
}

function gapped(before: Cell, side: 'a' | 'b', cost: number): Cell {
  return extended(before, cost, { gap: gapOf(before, side), side, longest: withGap(before, side) })
}

function extended(
  before: Cell,
  cost: number,
  { gap, side, longest }: Pick<Cell, 'gap' | 'side' | 'longest'>,
): Cell {
  const place = Math.max(0, before.place + cost - USUAL_COST)
  return { cost: before.cost + cost, gap, side, longest, place, worst: Math.max(before.worst, place) }
}

function gapOf(before: Cell, side: 'a' | 'b'): number {
  return before.side === side ? before.gap + 1 : 1
}

function withGap(before: Cell, side: 'a' | 'b'): number {
  return Math.max(before.longest, gapOf(before, side))
}

function gapCost(phone: string): number {
  return SOFT.has(phone) ? COSTS.softGap : COSTS.gap
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
