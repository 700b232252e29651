import type { Tool } from './tool.ts'

interface Entry {
  tool: Tool
  /** Where it stands, unless tools before it have come or gone since. */
  position: number
}

/** So many places of the array are looked at before a name is said not to be there. */
const PROBES = 16

/** A function takes no more than about 60,000. */
const MAX_ARGUMENTS = 10_000

/**
 * Finds tools of an array by `name` or `lc_name` without searching it. Others may change the array too, so nothing
 * is given out that is not in it; a change that keeps the length is noticed at the places probed.
 */
export class ToolIndex {
  readonly #tools: Tool[]
  readonly #orderOf: (tool: Tool) => number
  readonly #names = new Map<string, Entry>()
  readonly #otherNames = new Map<string, Entry>()
  #length = 0
  #appended = 0

  /** `orderOf` says which tools stand before which; those of the same order stand as they came. */
  constructor(tools: Tool[], orderOf: (tool: Tool) => number) {
    this.#tools = tools
    this.#orderOf = orderOf
  }

  find(name: string): Tool | undefined {
    const entry = this.#entryOf(name)
    if (entry && this.#tools[entry.position] === entry.tool) return entry.tool
    if (!entry && this.#isInLine()) return undefined
    if (entry && this.#positionOf(entry.tool) >= 0) return entry.tool
    this.#rebuild()
    return this.#entryOf(name)?.tool
  }

  #entryOf(name: string): Entry | undefined {
    return this.#names.get(name) ?? this.#otherNames.get(name)
  }

  #positionOf(tool: Tool): number {
    const entry = this.#names.get(tool.name)
    if (entry?.tool !== tool) return this.#tools.indexOf(tool)
    if (this.#tools[entry.position] !== tool) entry.position = this.#tools.indexOf(tool)
    return entry.position
  }

  /** Adds a tool at the end; `settle` puts it where it belongs. */
  append(tool: Tool): void {
    this.#note(tool, this.#tools.push(tool) - 1)
    this.#length++
    this.#appended++
  }

  /** Moves the tools appended since, which are of one order, behind all others of that or an earlier order. */
  settle(): void {
    const start = this.#tools.length - this.#appended
    const place = this.#appended > 0 ? this.#placeFor(this.#tools[start] as Tool, start) : start
    this.#appended = 0
    if (place === start) return
    const added = this.#tools.splice(start)
    for (let at = 0; at < added.length; at += MAX_ARGUMENTS) {
      this.#tools.splice(place + at, 0, ...added.slice(at, at + MAX_ARGUMENTS))
    }
    if (added.length > 1) this.#rebuild()
  }

  /** Where the tool belongs among those before `end`. */
  #placeFor(tool: Tool, end: number): number {
    const order = this.#orderOf(tool)
    const isBefore = (position: number) => this.#orderOf(this.#tools[position] as Tool) <= order
    let low = 0
    let high = end
    if (end === 0 || isBefore(end - 1)) return end
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(middle)) low = middle + 1
      else high = middle
    }
    return low
  }

  replace(before: Tool, tool: Tool): void {
    const position = this.#positionOf(before)
    this.#forget(before)
    this.#tools[position] = tool
    this.#note(tool, position)
  }

  remove(tool: Tool): void {
    this.#tools.splice(this.#positionOf(tool), 1)
    this.#length--
    this.#forget(tool)
  }

  removeAll(gone: ReadonlySet<Tool>): void {
    let kept = 0
    for (const tool of this.#tools) if (!gone.has(tool)) this.#tools[kept++] = tool
    this.#tools.length = kept
    this.#rebuild()
  }

  #rebuild(): void {
    this.#names.clear()
    this.#otherNames.clear()
    this.#length = this.#tools.length
    // Backwards: of two tools with one name, the first is found.
    for (let position = this.#length - 1; position >= 0; position--) {
      this.#note(this.#tools[position] as Tool, position)
    }
  }

  #note(tool: Tool, position: number): void {
    const entry = { tool, position }
    this.#names.set(tool.name, entry)
    if (typeof tool.lc_name === 'string') this.#otherNames.set(tool.lc_name, entry)
  }

  #forget({ name, lc_name }: Tool): void {
    this.#names.delete(name)
    if (typeof lc_name === 'string') this.#otherNames.delete(lc_name)
  }

  #isInLine(): boolean {
    const { length } = this.#tools
    if (length !== this.#length) return false
    const step = Math.max(length / PROBES, 1)
    for (let at = 0; at < length; at += step) {
      if (!this.#names.has((this.#tools[Math.floor(at)] as Tool).name)) return false
    }
    return length === 0 || this.#names.has((this.#tools[length - 1] as Tool).name)
  }
}
