import type { ToolExecutor } from '../../executor/executor.ts'
import { callerOptions } from '../../executor/options.ts'
import type { Tool } from '../../tools/tool.ts'
import type { AskOptions } from '../ai-client.ts'

/** After this long, the next request reads the list again. */
const FRESH_MS = 60_000
/** After this long, a list that could not be read is tried again. */
const RETRY_MS = 5_000
/** The longest a request waits for a list. */
const READ_TIMEOUT_MS = 5_000

export interface ListingOptions<T> {
  /** The listing tool, by its name on its server, and its arguments. */
  tool: string
  args: Readonly<Record<string, unknown>>
  /** The listed value, and a text that changes only with what can be said; `undefined` if the result is not a list. */
  read(result: unknown): { text: string; make(): T } | undefined
  onChange(): void
}

/** What a tool lists; read when needed and when it may have changed. */
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

  /** The last value read, if the tool is among these. */
  of(tools: readonly Tool[], executor: ToolExecutor): T | undefined {
    const tool = listingTool(tools, executor, this.#options.tool)
    return tool !== undefined && tool === this.#tool ? this.#listed : undefined
  }

  /** Whether it should be read again before saying that something is unknown. */
  isOld(tools: readonly Tool[], executor: ToolExecutor, ageMs = FRESH_MS): boolean {
    const tool = listingTool(tools, executor, this.#options.tool)
    if (!tool) return false
    const since = performance.now() - this.#readAt
    return tool !== this.#tool || since > (this.#listed === undefined ? RETRY_MS : ageMs)
  }

  /** Reads it, one read at a time. Never rejects; a failure keeps the old value. */
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

/** A tool by its name on its server. */
export function listingTool(
  tools: readonly Tool[],
  { tools: manager }: ToolExecutor,
  name: string,
): Tool | undefined {
  return tools.find(tool => (manager.originOf(tool)?.name ?? tool.name) === name)
}
