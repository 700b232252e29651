import { callerOptions } from '../../executor/options.ts'
import type { ToolExecutor } from '../../executor/tool-executor.ts'
import type { Tool } from '../../tools/tool.ts'
import type { AskOptions } from '../ai-client.ts'

/** After so long, a list is read again when somebody asks for something. */
const FRESH_MS = 60_000
/** A list that could not be read is not asked for again at once. */
const RETRY_MS = 5_000
/** Nobody waits longer to be understood. */
const READ_TIMEOUT_MS = 5_000

export interface ListingOptions<T> {
  /** The tool that lists, by the name that its server gave it, and what it is asked with. */
  tool: string
  args: Readonly<Record<string, unknown>>
  /** What a result lists, and a text that is the same as long as the same can be said; `undefined` if it lists nothing. */
  read(result: unknown): { text: string; make(): T } | undefined
  onChange(): void
}

/** What a tool lists: read when it is needed and when it may have changed. */
export class Listing<T> {
  readonly #options: ListingOptions<T>
  #tool: Tool | undefined
  #listed: T | undefined
  #text = ''
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(options: ListingOptions<T>) {
    this.#options = options
  }

  /** As it was last read, if the tool is among these. */
  of(tools: readonly Tool[], executor: ToolExecutor): T | undefined {
    const tool = listingTool(tools, executor, this.#options.tool)
    return tool !== undefined && tool === this.#tool ? this.#listed : undefined
  }

  /** Whether it should be read again before somebody is told that something is not there. */
  isOld(tools: readonly Tool[], executor: ToolExecutor, ageMs = FRESH_MS): boolean {
    const tool = listingTool(tools, executor, this.#options.tool)
    if (!tool) return false
    const since = performance.now() - this.#readAt
    return tool !== this.#tool || since > (this.#listed === undefined ? RETRY_MS : ageMs)
  }

  /** Reads it, once at a time. Never rejects: what cannot be read stays as it was. */
  read(tools: readonly Tool[], executor: ToolExecutor, options: AskOptions = {}): Promise<void> {
    const tool = listingTool(tools, executor, this.#options.tool)
    if (!tool) return Promise.resolve()
    this.#reading ??= this.#read(tool, executor, options).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(tool: Tool, executor: ToolExecutor, options: AskOptions): Promise<void> {
    const call = { id: `list_${crypto.randomUUID()}`, name: tool.name, args: { ...this.#options.args } }
    const { signal } = options
    const result = await executor
      .run(call, { ...callerOptions(options), signal, timeoutMs: READ_TIMEOUT_MS, among: [tool] })
      .catch(() => undefined)
    this.#readAt = performance.now()
    const read = result?.success ? this.#options.read(result.result) : undefined
    const isSame = this.#tool === tool
    this.#tool = tool
    if (!read && isSame) return
    const isChanged = read?.text !== this.#text || !isSame
    this.#text = read?.text ?? ''
    if (!isChanged && this.#listed !== undefined) return
    this.#listed = read?.make()
    this.#options.onChange()
  }
}

/** A tool by the name that its server gave it. */
export function listingTool(
  tools: readonly Tool[],
  { tools: manager }: ToolExecutor,
  name: string,
): Tool | undefined {
  return tools.find(tool => (manager.originOf(tool)?.name ?? tool.name) === name)
}
