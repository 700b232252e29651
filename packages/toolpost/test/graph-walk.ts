import type { SentenceGraph } from '../src/models/offline/sentence-graph.ts'

/** Whether the words of a text are a way through a graph. */
export function accepts({ rules }: SentenceGraph, text: string): boolean {
  const words = text.toLowerCase().split(' ')
  const known = new Map<string, Set<number>>()
  const endsOf = (rule: number, start: number): Set<number> => {
    const key = `${rule} ${start}`
    const before = known.get(key)
    if (before) return before
    const found = new Set<number>()
    known.set(key, found)
    const open: [state: number, at: number][] = [[0, start]]
    const seen = new Set<string>()
    for (let next = open.pop(); next; next = open.pop()) {
      const [state, at] = next
      if (seen.has(next.join(' '))) continue
      seen.add(next.join(' '))
      if (rules[rule]?.ends.includes(state)) found.add(at)
      for (const [label, to] of rules[rule]?.arcs[state] ?? []) {
        if (typeof label === 'number') for (const end of endsOf(label, at)) open.push([to, end])
        else if (words[at] === label) open.push([to, at + 1])
      }
    }
    return found
  }
  return endsOf(0, 0).has(words.length)
}

/** A sentence of a graph; `choose` picks one of so many ways on. */
export function wander({ rules }: SentenceGraph, choose: (ways: number) => number, rule = 0): string[] {
  const words: string[] = []
  let state = 0
  for (;;) {
    const arcs = rules[rule]?.arcs[state] ?? []
    const mayEnd = rules[rule]?.ends.includes(state) ?? true
    const way = choose(arcs.length + (mayEnd ? 1 : 0))
    const arc = arcs[way]
    if (!arc) return words
    const [label, to] = arc
    words.push(...(typeof label === 'number' ? wander({ version: '', rules }, choose, label) : [label]))
    state = to
  }
}
