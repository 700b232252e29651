import { pointerParts } from '../schema/explain-errors.ts'
import type { Arguments } from './check-arguments.ts'

/** How to change values, by JSON pointer. */
export type Changes = ReadonlyMap<string, (value: unknown) => unknown>

interface Node {
  alter?: (value: unknown) => unknown
  readonly inner: Map<string, Node>
}

/** A copy of `args` with all changes applied; parts without changes are shared with the original. */
export function changed(args: Arguments, changes: Changes): Arguments {
  const root: Node = { inner: new Map() }
  for (const [pointer, alter] of changes) nodeAt(root, pointerParts(pointer)).alter = alter
  return rebuilt(args, root) as Arguments
}

/** A copy of `args` without some keys, given by the JSON pointer of their object. */
export function withoutKeys(args: Arguments, keys: ReadonlyMap<string, ReadonlySet<string>>): Arguments {
  const changes = [...keys].map(
    ([pointer, here]) => [pointer, (value: unknown) => without(value, here)] as const,
  )
  return changed(args, new Map(changes))
}

function nodeAt(root: Node, path: readonly string[]): Node {
  let node = root
  for (const part of path) {
    const next = node.inner.get(part) ?? { inner: new Map() }
    node.inner.set(part, next)
    node = next
  }
  return node
}

function rebuilt(value: unknown, { alter, inner }: Node): unknown {
  if (inner.size === 0) return alter ? alter(value) : value
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Arguments) }) as Arguments
  for (const [key, node] of inner) copy[key] = rebuilt(copy[key], node)
  return alter ? alter(copy) : copy
}

function without(value: unknown, keys: ReadonlySet<string>): unknown {
  return Object.fromEntries(Object.entries(value as Arguments).filter(([key]) => !keys.has(key)))
}
