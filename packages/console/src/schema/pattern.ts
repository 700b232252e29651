import { type PatternNode, parsePattern } from './pattern-parser.ts'

/*
 * Matches schema patterns in linear time: all paths at once, character by character. The browser's engine backtracks,
 * and a tool's pattern can make that take forever. (RE2JS does the same, but its 46 kB are a sixth of the page's
 * budget.)
 */

/** Longer programs and matches are left to the gateway. */
const MAX_PROGRAM = 4_000
const MAX_STEPS = 4_000_000

type Step =
  | { do: 'take'; test: (character: string) => boolean }
  | { do: 'assert'; what: 'begin' | 'end' | 'boundary' | 'inside' }
  | { do: 'split'; to: [number, number] }
  | { do: 'jump'; to: number }

/** Whether a text contains the pattern; `undefined` if that cannot be decided here. */
export type Matcher = (text: string) => boolean | undefined

/** `undefined` for a pattern that only the gateway can check. */
export function compilePattern(source: string): Matcher | undefined {
  const tree = parsePattern(source)
  const program: Step[] = []
  if (tree === undefined || !emit(tree, program)) return undefined
  return text => matches(program, text)
}

/** Returns whether the program fits. */
function emit(node: PatternNode, program: Step[]): boolean {
  if (program.length > MAX_PROGRAM) return false
  switch (node.kind) {
    case 'character':
      return program.push({ do: 'take', test: node.test }) > 0
    case 'assertion':
      return program.push({ do: 'assert', what: node.what }) > 0
    case 'sequence':
      return node.parts.every(part => emit(part, program))
    case 'choice':
      return emitChoice(node.parts, program)
    case 'repeat':
      return emitRepeat(node, program)
  }
}

function emitChoice(parts: PatternNode[], program: Step[]): boolean {
  const ends: Extract<Step, { do: 'jump' }>[] = []
  for (const [at, part] of parts.entries()) {
    const split: Step = { do: 'split', to: [program.length + 1, 0] }
    if (at < parts.length - 1) program.push(split)
    if (!emit(part, program)) return false
    const end: Step = { do: 'jump', to: 0 }
    program.push(end)
    ends.push(end)
    split.to[1] = program.length
  }
  for (const end of ends) end.to = program.length
  return true
}

function emitRepeat({ part, min, max }: Extract<PatternNode, { kind: 'repeat' }>, program: Step[]): boolean {
  for (let time = 0; time < min; time += 1) if (!emit(part, program)) return false
  if (max === Infinity) return emitLoop(part, program)
  const splits: Extract<Step, { do: 'split' }>[] = []
  for (let time = min; time < max; time += 1) {
    const split: Step = { do: 'split', to: [program.length + 1, 0] }
    program.push(split)
    splits.push(split)
    if (!emit(part, program)) return false
  }
  for (const split of splits) split.to[1] = program.length
  return true
}

function emitLoop(part: PatternNode, program: Step[]): boolean {
  const split: Step = { do: 'split', to: [program.length + 1, 0] }
  const begin = program.length
  program.push(split)
  if (!emit(part, program)) return false
  program.push({ do: 'jump', to: begin })
  split.to[1] = program.length
  return true
}

interface Place {
  before: string | undefined
  after: string | undefined
}

function matches(program: readonly Step[], text: string): boolean | undefined {
  const characters = Array.from(text)
  if (characters.length * (program.length + 1) > MAX_STEPS) return undefined
  let threads = new Set<number>()
  for (let at = 0; at <= characters.length; at += 1) {
    const place = { before: characters[at - 1], after: characters[at] }
    // A match may begin anywhere.
    const reached = reachable(program, [...threads, 0], place)
    if (reached.has(program.length)) return true
    threads = new Set()
    for (const step of reached) {
      const { [step]: one } = program
      if (one?.do === 'take' && place.after !== undefined && one.test(place.after)) threads.add(step + 1)
    }
  }
  return false
}

/** Where the threads get without consuming a character. */
function reachable(program: readonly Step[], from: number[], place: Place): Set<number> {
  const reached = new Set<number>()
  const rest = from
  while (rest.length > 0) {
    const at = rest.pop() as number
    if (reached.has(at)) continue
    reached.add(at)
    const step = program[at]
    if (step?.do === 'jump') rest.push(step.to)
    if (step?.do === 'split') rest.push(...step.to)
    if (step?.do === 'assert' && holds(step.what, place)) rest.push(at + 1)
  }
  return reached
}

function holds(what: Extract<Step, { do: 'assert' }>['what'], { before, after }: Place): boolean {
  if (what === 'begin') return before === undefined
  if (what === 'end') return after === undefined
  return (isWord(before) !== isWord(after)) === (what === 'boundary')
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character)
}
