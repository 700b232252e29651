import { UsageError } from './exit-codes.ts'

export interface TypedArguments {
  args: unknown
  /** `key=value` was typed by a person: what the schema wants can be made of it. JSON is taken as it stands. */
  repair: boolean
}

/** The arguments of `toolpost call`: one JSON text, or any number of `key=value`; a key given twice makes a list. */
export function parseArguments(words: readonly string[]): TypedArguments {
  const [first] = words
  if (first === undefined) return { args: {}, repair: true }
  if (words.length === 1 && !isPair(first)) return { args: fromJson(first), repair: false }
  return { args: fromPairs(words), repair: true }
}

function isPair(word: string): boolean {
  return /^[^\s=:{}[\]"']+=/.test(word)
}

/** Text that is not JSON is handed on as it is: the executor answers it as it answers any bad arguments. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function fromPairs(words: readonly string[]): Record<string, unknown> {
  const pairs = new Map<string, string | string[]>()
  for (const word of words) {
    if (!isPair(word)) throw new UsageError(`expected key=value or a single JSON argument, got '${word}'`)
    const equals = word.indexOf('=')
    const key = word.slice(0, equals)
    const value = word.slice(equals + 1)
    const before = pairs.get(key)
    pairs.set(key, before === undefined ? value : [before, value].flat())
  }
  return Object.fromEntries(pairs)
}
