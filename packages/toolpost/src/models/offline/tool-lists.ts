import type { ToolExecutor } from '../../executor/executor.ts'
import { isObjectLike, valueAt } from '../../runtime/guards.ts'
import type { Tool } from '../../tools/tool.ts'
import type { AskOptions } from '../ai-client.ts'
import { Listing, listingTool } from './listing.ts'
import { type ListEntry, type ListReader, WordList } from './lists.ts'

/** A list filled by a tool, such as the drinks of a bar. Paths are keys joined by dots: `menu.drinks`. */
export interface ListSource {
  /** A read-only tool. */
  tool: string
  args?: Readonly<Record<string, unknown>> | undefined
  /** The path of the entries in its result; the result itself if left out. */
  items?: string | undefined
  /** The path in an entry of what is said; `name` if left out. Entries may also be plain strings. */
  say?: string | undefined
  /** The path in an entry of the value for the tool; what is said if left out. */
  value?: string | undefined
}

/** More entries are ignored. */
const MAX_ITEMS = 5_000

/** The lists filled by tools. */
export class ToolLists {
  readonly #lists: ReadonlyMap<string, Listing<ListReader>>
  readonly #sources: ReadonlyMap<string, ListSource>

  constructor(sources: ReadonlyMap<string, ListSource>, onChange: () => void) {
    this.#sources = sources
    this.#lists = new Map([...sources].map(([name, source]) => [name, listing(source, onChange)]))
  }

  /** The lists known now. */
  of(tools: readonly Tool[], executor: ToolExecutor): Map<string, ListReader> {
    const known = new Map<string, ListReader>()
    for (const [name, list] of this.#lists) {
      const entries = list.of(reading(tools), executor)
      if (entries) known.set(name, entries)
    }
    return known
  }

  isOld(tools: readonly Tool[], executor: ToolExecutor, ageMs?: number): boolean {
    return [...this.#lists.values()].some(list => list.isOld(reading(tools), executor, ageMs))
  }

  /** Reads the lists again. Never rejects. */
  async read(tools: readonly Tool[], executor: ToolExecutor, options: AskOptions = {}): Promise<void> {
    await Promise.all([...this.#lists.values()].map(list => list.read(reading(tools), executor, options)))
  }

  /** Why lists are missing; call it after `read`. */
  problems(tools: readonly Tool[], executor: ToolExecutor): string[] {
    const known = this.of(tools, executor)
    return [...this.#sources].flatMap(([name, { tool: toolName, items }]) => {
      if (known.has(name)) return []
      const tool = listingTool(tools, executor, toolName)
      if (!tool) return `list '${name}' needs a tool '${toolName}' that does not exist`
      if (!tool.readOnly) return `list '${name}' needs a read-only tool; '${toolName}' may change something`
      return `list '${name}' could not be read: '${toolName}' returned no list${items ? ` at '${items}'` : ''}`
    })
  }
}

/** Read-only tools: finding out what can be said must not change anything. */
function reading(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ readOnly }) => readOnly)
}

function listing({ tool, args = {}, ...where }: ListSource, onChange: () => void): Listing<ListReader> {
  return new Listing({
    tool,
    args,
    onChange,
    read: result => {
      const entries = entriesIn(result, where)
      return entries && { text: JSON.stringify(entries), make: () => new WordList(entries) }
    },
  })
}

function entriesIn(
  result: unknown,
  { items, say = 'name', value }: Pick<ListSource, 'items' | 'say' | 'value'>,
): ListEntry[] | undefined {
  const listed = at(structured(result), items)
  if (!Array.isArray(listed)) return undefined
  return listed.slice(0, MAX_ITEMS).flatMap(item => {
    const said = [isObjectLike(item) ? at(item, say) : item].flat().filter(isSayable).map(String)
    const [first] = said
    if (first === undefined) return []
    return {
      say: said,
      value: (isObjectLike(item) && value !== undefined ? at(item, value) : first) ?? first,
    }
  })
}

function isSayable(text: unknown): boolean {
  return (typeof text === 'string' && text.trim() !== '') || typeof text === 'number'
}

/** Servers without structured results return JSON as text. */
function structured(result: unknown): unknown {
  if (typeof result !== 'string') return result
  try {
    return JSON.parse(result)
  } catch {
    return undefined
  }
}

function at(value: unknown, path: string | undefined): unknown {
  return valueAt(value, path?.split('.') ?? [])
}
