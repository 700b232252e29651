import type { ToolResult } from '../../call/tool-result.ts'
import type { CallContext } from '../../executor/context.ts'
import { unavailable } from '../../executor/failure.ts'
import { fingerprint } from '../../interceptors/canonical.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { plainSchema } from '../../schema/limits.ts'
import type { InvokeOptions, Tool } from '../../tools/tool.ts'
import { ToolFailureError } from '../../tools/tool-failure-error.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { ToolOutput } from '../../tools/tool-output.ts'
import type { Durable, OfferedTool, PublishedTool } from '../durable.ts'

export interface RemoteToolsOptions {
  tools: ToolManager
  durable: Durable
  /** Whether this project has an MCP server of that name. */
  isServer(name: string): boolean
  /** Called when a pool has workers again. */
  onBack(source: string): void
}

/** Tools with the same name and definition, wherever they run. */
interface Remote {
  /** Its source in the list of tools: the first of its pools. */
  readonly source: string
  readonly definition: PublishedTool
  /** The last known offers. */
  offers: readonly OfferedTool[]
}

/** After all servers of the configuration: this process's own tools keep their names. */
const ORDER = Number.MAX_SAFE_INTEGER - 1

/** The tools of workers in other processes, as ordinary tools of this one. */
export class RemoteTools {
  readonly #options: RemoteToolsOptions
  /** By source and name. */
  #remotes = new Map<string, Remote>()
  /** The runs of pending calls, by the calls' `meta`. */
  readonly #runs = new WeakMap<object, { id?: string | undefined; approved: boolean }>()

  constructor(options: RemoteToolsOptions) {
    this.#options = options
  }

  /** The tools this process offers to others. */
  own(): PublishedTool[] {
    const { tools } = this.#options
    return this.#ownTools().flatMap(tool => publishedTool(tool, tools.originOf(tool)?.server) ?? [])
  }

  /** Where a tool runs; `undefined` if it runs here. */
  find(tool: Tool): Remote | undefined {
    const origin = this.#options.tools.originOf(tool)
    return origin && this.#remotes.get(keyOf(origin.server, origin.name))
  }

  /** The name of another pool's tool in this process. */
  nameFor(pool: string, name: string): string | undefined {
    const remote = [...this.#remotes.values()].find(
      ({ definition, offers }) => definition.name === name && offers.some(offer => offer.pool === pool),
    )
    return remote && this.#names(key => key === keyIn(remote))[0]
  }

  /** Registers what others offer now. */
  update(): void {
    const { tools, onBack } = this.#options
    const before = this.#remotes
    const now = this.#offered()
    const isKept = (key: string) =>
      now.get(key)?.definition.fingerprint === before.get(key)?.definition.fingerprint
    tools.removeAll(this.#names(key => before.has(key) && !isKept(key)))
    const back = [...now.values()].filter(remote => isLive(remote) && !isLive(before.get(keyIn(remote))))
    this.#remotes = new Map(
      [...now].map(([key, remote]) => {
        const kept = isKept(key) ? before.get(key) : undefined
        return [key, kept ? Object.assign(kept, { offers: remote.offers }) : remote]
      }),
    )
    for (const [key, remote] of this.#remotes)
      if (!isKept(key) || !before.has(key))
        tools.addMcpTools([this.#toolOf(remote)], { server: remote.source, order: ORDER })
    for (const source of new Set(back.map(({ source }) => source))) onBack(source)
  }

  /** Removes them all. */
  clear(): void {
    this.#options.tools.removeAll(this.#names(key => this.#remotes.has(key)))
    this.#remotes.clear()
  }

  /** Waits for a call of a remote tool, and records the run it became. */
  async note(call: CallContext, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const run: { id?: string | undefined; approved: boolean } = { approved: isApproved(call) }
    this.#runs.set(call.meta, run)
    const result = await next()
    if (run.id === undefined) return result
    call.notes.run = run.id
    return { ...result, run_id: run.id }
  }

  #ownTools(): Tool[] {
    return this.#options.tools.getTools().filter(tool => !this.find(tool))
  }

  /** The registered names of matching remote tools. */
  #names(fits: (key: string) => boolean): string[] {
    const { tools } = this.#options
    const found = tools.getTools().filter(tool => {
      const origin = tools.originOf(tool)
      return origin && fits(keyOf(origin.server, origin.name))
    })
    return found.map(({ name }) => name)
  }

  /** What others offer, without what this process has itself. Of two definitions in one pool, the live one wins. */
  #offered(): Map<string, Remote> {
    const own = new Map(this.own().map(({ name, fingerprint }) => [name, fingerprint]))
    const alike = new Map<string, OfferedTool[]>()
    for (const offer of this.#options.durable.offers()) {
      const { name, fingerprint } = offer.tool
      if (own.get(name) === fingerprint) continue
      const key = keyOf(name, fingerprint)
      alike.set(key, [...(alike.get(key) ?? []), offer])
    }
    const remotes = [...alike.values()].map(offers => this.#remoteOf(offers))
    const dead = remotes.filter(remote => !isLive(remote))
    return new Map([...dead, ...remotes.filter(isLive)].map(remote => [keyIn(remote), remote]))
  }

  #remoteOf(offers: readonly OfferedTool[]): Remote {
    const [first] = [...offers].sort((a, b) => (a.pool < b.pool ? -1 : 1)) as [OfferedTool]
    const source = this.#options.isServer(first.pool) ? `${first.pool}-pool` : first.pool
    return { source, definition: first.tool, offers }
  }

  #toolOf(remote: Remote): Tool {
    const { fingerprint: _, server: __, ...definition } = remote.definition
    const invoke = (args: object, options?: InvokeOptions) => this.#run(remote, args, options)
    return { ...definition, invoke }
  }

  /** The policy of this process has decided; that of the worker applies as well. */
  async #run(remote: Remote, args: object, options?: InvokeOptions): Promise<unknown> {
    const { durable } = this.#options
    const { name } = remote.definition
    if (!isLive(remote)) throw gone(remote)
    const { caller, meta, callId: id } = options ?? {}
    const noted = meta && this.#runs.get(meta)
    const onProgress = options?.wantsProgress ? options.reportProgress?.bind(options) : undefined
    const pool = remote.offers.map(offer => offer.pool)
    const given = { pool, origin: 'worker', caller, meta, onProgress, approved: noted?.approved }
    const accepted = await durable.accept({ id, name, args }, given)
    if ('refused' in accepted) return outputOf(accepted.refused)
    if (noted) noted.id = accepted.id
    options?.onAbort?.(() => void durable.cancel(accepted.id).catch(() => {}))
    return outputOf(await accepted.result)
  }
}

/** Whether a person has approved the call on its way here. */
export function isApproved({ notes }: CallContext): boolean {
  return (notes.approval as { decision?: string } | undefined)?.decision === 'approved'
}

function keyOf(...parts: string[]): string {
  return parts.join('\0')
}

function keyIn({ source, definition }: Remote): string {
  return keyOf(source, definition.name)
}

/** Whether an offer has live workers. */
function isLive(remote: Remote | undefined): boolean {
  return remote?.offers.some(({ workers }) => workers > 0) === true
}

/** Why nobody can run a tool, and since when. */
function gone({ definition, offers }: Remote): ToolFailureError {
  const pools = [...new Set(offers.map(({ pool }) => `'${pool}'`))].join(', ')
  const [since] = offers.map(offer => offer.gone_since ?? '').sort((a, b) => (a < b ? 1 : -1))
  const text = `no worker of pool ${pools} runs it${since ? `, since ${since}` : ''}`
  return new ToolFailureError('unavailable', unavailable(definition.name, text).error)
}

/** Unpacks the worker's result, which the executor here turns into the same result again. */
function outputOf(result: ToolResult): unknown {
  if (!result.success) {
    const { code, error, diagnosis, retry_after_ms: retryAfterMs } = result
    throw new ToolFailureError(code, error, { ...(diagnosis && { diagnosis }), retryAfterMs })
  }
  const { result: value, text, content, meta } = result
  if (content) return new ToolOutput(value, content, meta)
  return text === undefined ? value : new ToolOutput(value, [{ type: 'text', text }], meta)
}

const published = new WeakMap<Tool, PublishedTool | undefined>()

/** A tool in the form others can offer; `undefined` if its schema cannot be serialized. */
function publishedTool(tool: Tool, server: string | undefined): PublishedTool | undefined {
  if (!published.has(tool)) published.set(tool, describe(tool))
  const known = published.get(tool)
  return known && { ...known, server }
}

function describe(tool: Tool): PublishedTool | undefined {
  const schema = plainSchema(() => jsonSchemaOf(tool))
  if (!schema) return undefined
  const { name, title, timeoutMs, maxTimeoutMs, readOnly, idempotent, destructive, openWorld, sentences } =
    tool
  const definition = {
    ...{ name, title, description: tool.description ?? '', schema },
    outputSchema: plainSchema(() => tool.outputSchema),
    ...{ timeoutMs, maxTimeoutMs, readOnly, idempotent, destructive, openWorld, sentences },
  }
  return { ...definition, fingerprint: fingerprint(definition) }
}
