/* A JSON value as collapsible rows. Only visible parts are walked, and long lists are split into ranges. */

export type Path = readonly (string | number)[]

export interface TreeNode {
  /** Unique among all rows. */
  id: string
  path: Path
  value: unknown
  depth: number
  /** A range of the entries of `value`; the end is exclusive. */
  range?: readonly [from: number, to: number]
}

/** More entries than this are split into ranges, recursively. */
const RANGE = 1_000
/** How many rows are open initially. */
const FIRST_ROWS = 60
const MAX_ROWS = 200_000

export function rootOf(value: unknown): TreeNode {
  return { id: '$', path: [], value, depth: 0 }
}

export function isOpenable({ value }: TreeNode): boolean {
  return typeof value === 'object' && value !== null && sizeOf(value) > 0
}

export function sizeOf(value: object): number {
  return Array.isArray(value) ? value.length : keysOf(value).length
}

const keys = new WeakMap<object, string[]>()

function keysOf(value: object): string[] {
  const known = keys.get(value) ?? Object.keys(value)
  keys.set(value, known)
  return known
}

export function childrenOf(node: TreeNode): TreeNode[] {
  const { value } = node
  if (typeof value !== 'object' || value === null) return []
  const [from, to] = node.range ?? [0, sizeOf(value)]
  return to - from > RANGE ? rangesOf(node, from, to) : entriesOf(node, from, to)
}

function rangesOf(node: TreeNode, from: number, to: number): TreeNode[] {
  const levels = Math.ceil(Math.log(to - from) / Math.log(RANGE) - 1e-9)
  const step = RANGE ** (levels - 1)
  const starts = Array.from({ length: Math.ceil((to - from) / step) }, (_, at) => from + at * step)
  return starts.map(start => ({
    ...node,
    id: `${node.id}…${start}:${step}`,
    depth: node.depth + 1,
    range: [start, Math.min(to, start + step)],
  }))
}

function entriesOf({ id, path, value, depth }: TreeNode, from: number, to: number): TreeNode[] {
  const list = value as object
  const names = Array.isArray(list) ? undefined : keysOf(list)
  return Array.from({ length: to - from }, (_, at) => {
    const key = names ? (names[from + at] as string) : from + at
    return {
      id: `${id}/${key}`,
      path: [...path, key],
      value: (list as Record<string | number, unknown>)[key],
      depth: depth + 1,
    }
  })
}

/** The rows that are not collapsed, from top to bottom. */
export function visibleRows(root: TreeNode, open: ReadonlySet<string>): TreeNode[] {
  const rows: TreeNode[] = []
  const rest = [root]
  while (rest.length > 0 && rows.length < MAX_ROWS) {
    const node = rest.pop() as TreeNode
    rows.push(node)
    if (open.has(node.id)) rest.push(...childrenOf(node).reverse())
  }
  return rows
}

/** What is open initially: as much from the top as fits a screen. */
export function firstOpen(root: TreeNode): ReadonlySet<string> {
  const open = new Set<string>()
  const next = [root]
  let rows = 1
  for (let node = next.shift(); node !== undefined; node = next.shift()) {
    if (!isOpenable(node)) continue
    const children = childrenOf(node)
    rows += children.length
    if (rows > FIRST_ROWS && node !== root) break
    open.add(node.id)
    next.push(...children.filter(child => child.range === undefined))
  }
  return open
}

/** The rows on the path to a value, its own last. */
export function rowsTo(root: TreeNode, path: Path): TreeNode[] {
  const rows = [root]
  for (const key of path) {
    for (let isFound = false; !isFound; ) {
      const next = childAt(rows.at(-1) as TreeNode, key)
      if (next === undefined) return rows
      rows.push(next)
      isFound = next.range === undefined
    }
  }
  return rows
}

function childAt(node: TreeNode, key: string | number): TreeNode | undefined {
  const at = typeof key === 'number' ? key : keysOf(node.value as object).indexOf(key)
  return childrenOf(node).find(({ range, path }) =>
    range ? range[0] <= at && at < range[1] : path.at(-1) === key,
  )
}

/** `$.devices[3]["last seen"]` */
export function pathText(path: Path): string {
  const part = (key: string | number) => {
    if (typeof key === 'number') return `[${key}]`
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  }
  return `$${path.map(part).join('')}`
}

const MAX_FOUND = 1_000
const SLICE = 20_000

/** Every path whose key or value contains the words; yields the matches so far now and then. */
export function* searchTree(root: unknown, words: string): Generator<Path[], Path[]> {
  const wanted = words.toLowerCase()
  const found: Path[] = []
  const rest: { path: Path; value: unknown }[] = [{ path: [], value: root }]
  for (let steps = 1; rest.length > 0 && found.length < MAX_FOUND; steps += 1) {
    const { path, value } = rest.pop() as { path: Path; value: unknown }
    if (isHit(path.at(-1), value, wanted)) found.push(path)
    if (typeof value === 'object' && value !== null) pushEntries(rest, path, value)
    if (steps % SLICE === 0) yield [...found]
  }
  return found
}

function isHit(key: string | number | undefined, value: unknown, wanted: string): boolean {
  if (typeof key === 'string' && key.toLowerCase().includes(wanted)) return true
  return (typeof value !== 'object' || value === null) && String(value).toLowerCase().includes(wanted)
}

/** In reverse, so that the first is popped next. */
function pushEntries(rest: { path: Path; value: unknown }[], path: Path, value: object): void {
  if (Array.isArray(value))
    for (let at = value.length - 1; at >= 0; at -= 1) rest.push({ path: [...path, at], value: value[at] })
  else
    for (const key of keysOf(value).toReversed())
      rest.push({ path: [...path, key], value: (value as Record<string, unknown>)[key] })
}
