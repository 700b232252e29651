import { createHash } from 'node:crypto'

const MAX_CHARS = 64
const HASH_CHARS = 6

/**
 * Maps each name that the provider does not allow to a similar one that it does; deterministic and one to one. Allowed
 * names stay and are not in the map.
 */
export function safeNames(names: Iterable<string>, allowed: RegExp): Map<string, string> {
  const all = [...new Set(names)]
  const taken = new Set(all.filter(name => allowed.test(name)))
  const renamed = new Map<string, string>()
  for (const name of all) {
    if (allowed.test(name)) continue
    const safe = safeName(name, taken)
    taken.add(safe)
    renamed.set(name, safe)
  }
  return renamed
}

function safeName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.normalize('NFKD').replace(/[^a-zA-Z0-9_-]/g, '_')
  const isSpeaking = /[a-zA-Z0-9]/.test(plain)
  if (isSpeaking && plain.length <= MAX_CHARS && !taken.has(plain)) return plain
  for (let attempt = 0; ; attempt++) {
    const hash = createHash('sha256').update(`${attempt}${name}`).digest('hex').slice(0, HASH_CHARS)
    const start = isSpeaking ? plain.slice(0, MAX_CHARS - HASH_CHARS - 1) : 'name'
    const safe = `${start}_${hash}`
    if (!taken.has(safe)) return safe
  }
}

/** The same object with its keys renamed. If two keys collide, the preferred one wins. */
export function withNames(
  args: Record<string, unknown>,
  names: ReadonlyMap<string, string>,
  preferred: 'given' | 'renamed',
): Record<string, unknown> {
  const entries = Object.entries(args)
  const given = entries.filter(([name]) => !names.has(name))
  if (given.length === entries.length) return args
  const renamed = entries.flatMap(([name, value]): [string, unknown][] => {
    const other = names.get(name)
    return other === undefined ? [] : [[other, value]]
  })
  return Object.fromEntries(preferred === 'given' ? [...renamed, ...given] : [...given, ...renamed])
}
