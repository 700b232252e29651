import { callerOptions } from '../../executor/options.ts'
import type { ToolExecutor } from '../../executor/tool-executor.ts'
import { readZwaveList, ZWAVE_LIST } from '../../known-servers/zwave-home.ts'
import type { Tool } from '../../tools/tool.ts'
import type { AskOptions } from '../ai-client.ts'
import { Home, type HomeWords } from './home/home.ts'

/** After so long, the list is read again when somebody asks for something. */
const FRESH_MS = 60_000
/** A list that could not be read is not asked for again at once. */
const RETRY_MS = 5_000
/** Nobody waits longer to be understood. */
const READ_TIMEOUT_MS = 5_000

/** What is known about the home: read from the tool that lists it, when it is needed and when it may have changed. */
export class KnownHome {
  readonly #written: HomeWords
  readonly #onChange: () => void
  #tool: Tool | undefined
  #home: Home | undefined
  #text = ''
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(written: HomeWords, onChange: () => void) {
    this.#written = written
    this.#onChange = onChange
  }

  /** As it was last read, if these tools are those of that home. */
  of(tools: readonly Tool[], executor: ToolExecutor): Home | undefined {
    const tool = listTool(tools, executor)
    return tool !== undefined && tool === this.#tool ? this.#home : undefined
  }

  /** Whether it should be read again before somebody is told that something is not there. */
  isOld(tools: readonly Tool[], executor: ToolExecutor, ageMs = FRESH_MS): boolean {
    const tool = listTool(tools, executor)
    if (!tool) return false
    const since = performance.now() - this.#readAt
    return tool !== this.#tool || since > (this.#home ? ageMs : RETRY_MS)
  }

  /** Reads it, once at a time. Never rejects: what cannot be read stays as it was. */
  read(tools: readonly Tool[], executor: ToolExecutor, options: AskOptions = {}): Promise<void> {
    const tool = listTool(tools, executor)
    if (!tool) return Promise.resolve()
    this.#reading ??= this.#read(tool, executor, options).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(tool: Tool, executor: ToolExecutor, options: AskOptions): Promise<void> {
    const call = { id: `list_${crypto.randomUUID()}`, name: tool.name, args: ZWAVE_LIST.args }
    const { signal } = options
    const result = await executor
      .run(call, { ...callerOptions(options), signal, timeoutMs: READ_TIMEOUT_MS, among: [tool] })
      .catch(() => undefined)
    this.#readAt = performance.now()
    const listed = result?.success ? readZwaveList(result.result) : undefined
    const isSame = this.#tool === tool
    this.#tool = tool
    if (!listed && isSame) return
    // The states come and go; what can be said does not change with them.
    const text =
      JSON.stringify(
        listed?.devices.map(({ state, ...device }) => [device, unitOf(state)]),
        null,
      ) + listed?.scenes
    const isChanged = text !== this.#text || !isSame
    this.#text = text
    this.#home = isChanged || !this.#home ? listed && new Home(listed, this.#written) : this.#home
    if (isChanged) this.#onChange()
  }
}

/** What a state is measured in tells what a sensor measures. */
function unitOf(state: string | undefined): string {
  return state?.replaceAll(/[\d.,-]+/g, '') ?? ''
}

function listTool(tools: readonly Tool[], { tools: manager }: ToolExecutor): Tool | undefined {
  return tools.find(tool => (manager.originOf(tool)?.name ?? tool.name) === ZWAVE_LIST.tool)
}
