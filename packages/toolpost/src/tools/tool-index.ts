import type { Tool } from './tool.ts'

interface Entry {
  tool: Tool
  /** Its index, unless tools before it have come or gone since. */
  position: number
}

/** How many positions of the array are checked before a name counts as missing. */
const PROBES = 16

/**
 * Finds tools in an array by `name` or `lc_name` without searching it. Others may change the array too, so a tool is
 * returned only if it is still in it; a change that keeps the length is noticed at the probed positions.
 */
export class ToolIndex {
  readonly #tools: Tool[]
  readonly #names = new Map<string, Entry>()
  readonly #otherNames = new Map<string, Entry>()
  #length = 0

  constructor(tools: Tool[]) {
    this.#tools = tools
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

  /** Inserts a tool after the last one for which `isBefore` is true; all of those come first. */
  insert(tool: Tool, isBefore: (other: Tool) => boolean): void {
    let low = 0
    let high = this.#tools.length
    const last = this.#tools[high - 1]
    if (last && isBefore(last)) low = high
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(this.#tools[middle] as Tool)) low = middle + 1
      else high = middle
    }
    this.#tools.splice(low, 0, tool)
    this.#length++
    this.#note(tool, low)
  }

  replace(before: Tool, tool: Tool): void {
    const position = this.#positionOf(before)
    this.#forget(before)
    this.#tools[position] = tool
    this.#note(tool, position)
  }

  removeAll(gone: ReadonlySet<Tool>): void {
    if (gone.size === 1) for (const tool of gone) this.#remove(tool)
    else this.#keepBut(gone)
  }

  #remove(tool: Tool): void {
    this.#tools.splice(this.#positionOf(tool), 1)
    this.#length--
    this.#forget(tool)
  }

  #keepBut(gone: ReadonlySet<Tool>): void {
    let kept = 0
    for (const tool of this.#tools) if (!gone.has(tool)) this.#tools[kept++] = tool
    this.#tools.length = kept
    this.#rebuild()
  }

  #rebuild(): void {
    this.#names.clear()
    this.#otherNames.clear()
    this.#length = this.#tools.length
    // Backwards, so that the first of two tools with the same name is found.
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
    const step = Math.max(length / PROBES, 1)
    const isKnown = (at: number) => this.#names.has((this.#tools[at] as Tool).name)
    for (let at = 0; at < length; at += step) if (!isKnown(Math.floor(at))) return false
    return length === this.#length && (length === 0 || isKnown(length - 1))
  }
}
