import type { GraphRule, SentenceGraph } from 'toolpost/models'

/** A graph for tests: rules of words, `[optional]`, `(one|other)` and `<rule>`; the first is the sentence. */
export function sentenceGraph(rules: Record<string, string>): SentenceGraph {
  const names = Object.keys(rules)
  return { version: JSON.stringify(rules), rules: Object.values(rules).map(text => ruleOf(text, names)) }
}

function ruleOf(text: string, names: readonly string[]): GraphRule {
  const tokens = text.match(/<\w+>|[[\]()|]|[\w']+/g) ?? []
  const arcs: [string | number, number][][] = []
  const jumps: number[][] = []
  let at = 0
  const state = () => {
    jumps.push([])
    return arcs.push([]) - 1
  }
  const sequence = (from: number): number => {
    let last = from
    for (let token = tokens[at]; token !== undefined && !'])|'.includes(token); token = tokens[at])
      last = part(token, last)
    return last
  }
  const part = (token: string, from: number): number => {
    at++
    const to = state()
    if (token !== '(' && token !== '[')
      arcs[from]?.push([token.startsWith('<') ? names.indexOf(token.slice(1, -1)) : token, to])
    else {
      if (token === '[') jumps[from]?.push(to)
      do {
        const branch = state()
        jumps[from]?.push(branch)
        jumps[sequence(branch)]?.push(to)
      } while (tokens[at++] === '|')
    }
    return to
  }
  const end = sequence(state())
  const reached = (from: number) => {
    const states = new Set([from])
    for (const next of states) for (const to of jumps[next] ?? []) states.add(to)
    return [...states]
  }
  return {
    arcs: arcs.map((_, from) => reached(from).flatMap(next => arcs[next] ?? [])),
    ends: arcs.flatMap((_, from) => (reached(from).includes(end) ? [from] : [])),
  }
}
