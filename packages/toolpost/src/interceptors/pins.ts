import { existsSync, readFileSync, renameSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Interceptor } from '../executor/chain.ts'
import { escapeControls } from '../logging/safe-value.ts'
import type { Tool } from '../tools/tool.ts'
import type { McpOrigin } from '../tools/tool-manager.ts'
import { isRecord } from '../util/guards.ts'
import { writePrivate } from '../util/private-file.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import { toolDefinition } from './canonical.ts'
import { denied } from './refuse.ts'

export type PinMode = 'off' | 'warn' | 'hold'

type Definition = Readonly<Record<string, unknown>>

const PARTS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const
/** A trusted server may change these. */
const WORDS: readonly string[] = ['title', 'description']

/** A tool whose definition is no longer the accepted one. */
export interface PinChange {
  server: string
  tool: string
  before: Definition
  after: Definition
  /** The parts of the definition that differ. */
  changed: string[]
  /** Whether models may not call it until the owner accepts the change. */
  isHeld: boolean
}

export interface PinsOptions {
  /** Where the accepted definitions are kept; only in memory if left out. */
  file?: string | undefined
  mode?: PinMode | undefined
  /** Servers whose descriptions may change. */
  isTrusted?: ((server: string) => boolean) | undefined
  onChange?: ((change: PinChange) => void) | undefined
  /** Something a person should know. */
  warn?: ((text: string) => void) | undefined
}

type PinnedTool = Pick<PinChange, 'server' | 'tool' | 'after'>
type Accepted = Record<string, Record<string, Definition>>

/**
 * Compares the tools of servers with the definitions that were seen first, or accepted since. Everything is accepted on
 * first contact.
 */
export class Pins {
  readonly #options: PinsOptions
  readonly #accepted: Accepted
  readonly #changes = new Map<string, Omit<PinChange, 'isHeld'>>()
  readonly #seen = new WeakSet<Tool>()
  #isUnsaved = false
  mode: PinMode

  constructor(options: PinsOptions = {}) {
    this.#options = options
    this.mode = options.mode ?? 'hold'
    this.#accepted = this.#read()
  }

  /** Looks at the tools there are. */
  see(tools: Iterable<Tool>, originOf: (tool: Tool) => McpOrigin | undefined): void {
    if (this.mode === 'off') return
    const added: PinnedTool[] = []
    for (const tool of tools) {
      const origin = originOf(tool)
      if (!origin || this.#seen.has(tool)) continue
      this.#seen.add(tool)
      const { server, name } = origin
      const before = this.#accepted[server]?.[name]
      const after = toolDefinition(tool)
      if (before === undefined) added.push({ server, tool: name, after })
      else this.#compare(server, name, before, after)
    }
    this.#accept(added)
  }

  /** All tools whose definition changed, in the order in which that was seen. */
  changes(): PinChange[] {
    return [...this.#changes.values()].map(change => ({ ...change, isHeld: this.#isHeld(change) }))
  }

  /** The change that holds a tool, unless another process accepted it meanwhile. */
  heldChange(server: string, tool: string): PinChange | undefined {
    const change = this.#changes.get(keyOf(server, tool))
    if (!change || !this.#isHeld(change)) return undefined
    const accepted = this.#read()[server]?.[tool]
    if (accepted) this.#compare(server, tool, accepted, change.after)
    return this.#changes.has(keyOf(server, tool)) ? { ...change, isHeld: true } : undefined
  }

  #isHeld({ server, changed }: Pick<PinChange, 'server' | 'changed'>): boolean {
    const mayChange =
      this.#options.isTrusted?.(server) === true && changed.every(part => WORDS.includes(part))
    return this.mode === 'hold' && !mayChange
  }

  /** Accepts the changes of a server, or all; returns them. */
  accept(server?: string): PinChange[] {
    const accepted = this.changes().filter(change => server === undefined || change.server === server)
    for (const change of accepted) this.#changes.delete(keyOf(change.server, change.tool))
    this.#accept(accepted)
    return accepted
  }

  #compare(server: string, tool: string, before: Definition, after: Definition): void {
    const changed = PARTS.filter(part => !isDeepStrictEqual(before[part], after[part]))
    const key = keyOf(server, tool)
    if (changed.length === 0) return void this.#changes.delete(key)
    const known = this.#changes.get(key)
    if (isDeepStrictEqual(known?.after, after)) return
    const change = { server, tool, before, after, changed }
    this.#changes.set(key, change)
    this.#options.onChange?.({ ...change, isHeld: this.#isHeld(change) })
  }

  /** Other processes may have written to the file since it was read. */
  #accept(tools: readonly PinnedTool[]): void {
    if (tools.length === 0) return
    for (const [server, stored] of Object.entries(this.#read()))
      this.#accepted[server] = Object.assign(Object.create(null), this.#accepted[server], stored)
    for (const { server, tool, after } of tools) {
      this.#accepted[server] ??= Object.create(null) as Record<string, Definition>
      this.#accepted[server][tool] = after
    }
    this.#save()
  }

  /** A damaged file is set aside: everything counts as first contact. */
  #read(): Accepted {
    const { file, warn } = this.#options
    const accepted: Accepted = Object.create(null)
    if (file === undefined || !existsSync(file)) return accepted
    try {
      const { servers }: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'))
      for (const [server, tools] of Object.entries(servers as Accepted)) {
        if (!Object.values(tools).every(isRecord)) throw new Error(`no definitions for '${server}'`)
        accepted[server] = Object.assign(Object.create(null), tools)
      }
      return accepted
    } catch (error) {
      const aside = `${file}.damaged-${Date.now()}`
      const reason = describeThrown(error)
      warn?.(`⚠️ ${file} cannot be read (${reason}); it is now ${aside}, and all tools count as new`)
      quietly(() => renameSync(file, aside))
      return Object.create(null) as Accepted
    }
  }

  #save(): void {
    const { file, warn } = this.#options
    if (file === undefined) return
    try {
      writePrivate(file, `${JSON.stringify({ version: 1, servers: this.#accepted })}\n`)
      this.#isUnsaved = false
    } catch (error) {
      // Every server that connects tries again.
      if (!this.#isUnsaved)
        warn?.(`⚠️ The definitions of tools cannot be kept in ${file}: ${describeThrown(error)}`)
      this.#isUnsaved = true
    }
  }
}

/** Callers that choose tools by their definition. */
const MODELS: readonly (string | undefined)[] = ['chat', 'voice', 'mcp']

/** Denies calls by models to tools whose definition changed, until the owner accepts the change. */
export function pins(store: Pins): Interceptor {
  return function pins(call, next) {
    // Over HTTP, the owner is exempt; a named client may be run by a model.
    const isWatched = MODELS.includes(call.origin) || (call.origin === 'http' && call.caller !== undefined)
    if (call.failure || call.server === undefined || !isWatched) return next()
    const change = store.heldChange(call.server, call.originalName ?? call.name)
    if (!change) return next()
    const { changed, server } = change
    const advice = `compare with 'toolpost pins', then 'toolpost pins accept ${server}'`
    return Promise.resolve(
      denied(call, `its ${changed.join(' and ')} changed since it was accepted; ${advice}`),
    )
  }
}

/** What changed, part by part: the old lines, then the new ones. Invisible characters are shown. */
export function changeText({ server, tool, before, after, changed, isHeld }: PinChange): string {
  const linesOf = (value: unknown = '') =>
    (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n').map(escapeControls)
  const parts = changed.flatMap(part => {
    const [old, now] = [linesOf(before[part]), linesOf(after[part])]
    const removed = old.filter(line => line && !now.includes(line)).map(line => `    - ${line}`)
    const added = now.filter(line => line && !old.includes(line)).map(line => `    + ${line}`)
    return [`  ${part}`, ...removed, ...added]
  })
  return [`${tool} of ${server}: ${isHeld ? 'held' : 'changed'}`, ...parts].join('\n')
}

function keyOf(server: string, tool: string): string {
  return JSON.stringify([server, tool])
}
