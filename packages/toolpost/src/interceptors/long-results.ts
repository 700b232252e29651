import { randomUUID } from 'node:crypto'
import type { KeptPart, ToolResult, ToolSuccess } from '../call/tool-result.ts'
import type { Interceptor } from '../executor/chain.ts'
import { inTurn } from '../schema/limits.ts'
import { modelTool } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'

export interface BigResultsOptions {
  /** Texts up to this size are passed on whole. */
  maxTextBytes: number
  clock?: Clock | undefined
}

/** The owner of a result: nobody else can read it. */
interface ResultOwner {
  caller?: string | undefined
  conversation?: string | undefined
}

/** `summary` is what a model reads in its place. */
type Entry = { mimeType: string; content: Uint8Array; owner: ResultOwner; summary: string; expiresAt: number }

export const HANDLE_PREFIX = 'result://'
const HANDLE = /^result:\/\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/
const BINARY = 'application/octet-stream'
const KEPT_MINUTES = 60
/** In total; the oldest is evicted first. */
const MAX_BYTES = 50_000_000
/** How much of each end of a big result a model sees; less if `maxTextBytes` is small. */
const HEAD_CHARS = 6_000
const TAIL_CHARS = 2_000
const MAX_KEYS = 20
const MAX_LINE_CHARS = 1_000
/** Longer JSON text is described as text; its reader can still ask for a path. */
const MAX_PARSED_CHARS = 1_000_000

/** Origins whose results a model or a person reads; results of the program's own calls are left alone. */
const ORIGINS = new Set<string | undefined>(['chat', 'mcp', 'http', 'voice'])

/** Keeps results that are too long for a model, so that everyone who sees the call can find the whole text. */
export function longResults(results: BigResults): Interceptor {
  return function longResults(call, next) {
    if (!ORIGINS.has(call.origin) || call.dryRun) return next()
    const { caller, conversation } = call
    return next().then(result => results.keep(result, { caller, conversation }))
  }
}

/** Keeps results that are too long for a model, and lets it read parts of them. Installed by `longResults`. */
export class BigResults {
  readonly #maxTextBytes: number
  readonly #clock: Clock
  /** By handle, oldest first. */
  readonly #entries = new Map<string, Entry>()

  constructor({ maxTextBytes, clock = systemClock }: BigResultsOptions) {
    this.#maxTextBytes = maxTextBytes
    this.#clock = clock
  }

  /**
   * Keeps the text of a result if it is too long for a model, and its long binary content; the result then has the handles
   * of both. Returns the same result.
   */
  async keep(result: ToolResult, owner: ResultOwner): Promise<ToolResult> {
    if (!result.success || result.handle !== undefined) return result
    try {
      const text = this.#keepText(result, owner)
      const binaries = this.#keepBinaries(result, owner)
      const handle = text ?? binaries[0]?.handle
      if (handle !== undefined) result.handle = handle
      if (binaries.length > 0) result.kept = binaries
    } catch {
      // A value that throws when it is read, or has no JSON.
    }
    return result
  }

  /** What a model reads of the kept parts of a result, its text and its binary content; `undefined` if there are none. */
  keptOf(result: ToolResult) {
    if (!result.success || result.handle === undefined) return undefined
    const { handle: first, kept = [] } = result
    const part = (handle: string) => {
      const found = this.read(handle, () => true)
      return { handle, summary: 'problem' in found ? `[${found.problem}]` : found.summary }
    }
    const text = kept[0]?.handle === first ? undefined : part(first)
    return { text, binaries: kept.map(({ handle }) => part(handle)) }
  }

  /** A kept result, or why it cannot be read. */
  read(handle: string, mayRead: (owner: ResultOwner) => boolean): Entry | { problem: string; gone: boolean } {
    this.#evict()
    const found = this.#entries.get(handle)
    if (found && mayRead(found.owner)) return found
    const gone = !found && HANDLE.test(handle)
    if (found) return { problem: `The result ${handle} belongs to another caller or conversation`, gone }
    if (!gone) return { problem: `There is no result ${handle}; handles begin with ${HANDLE_PREFIX}`, gone }
    const rule = `results are kept for ${KEPT_MINUTES} minutes, and the oldest are evicted first`
    return { problem: `The result ${handle} has expired: ${rule}. Call the tool again`, gone }
  }

  /** `read_result`: parts of the results that belong to `owner`. */
  tool({ caller, conversation }: ResultOwner): Tool {
    type Part = { handle: string; grep?: string; path?: string; offset?: number; length?: number }
    const read = async ({ handle, grep, path, offset = 0, length: wanted = 8_000 }: Part) => {
      const isOwn = (owner: ResultOwner) => owner.caller === caller && owner.conversation === conversation
      const found = this.read(handle, isOwn)
      if ('problem' in found) throw new Error(found.problem)
      const { content, mimeType } = found
      if (!isText(mimeType))
        throw new Error(`${handle} is ${mimeType} (${content.length} bytes) and cannot be read as text`)
      const length = Math.min(wanted, Math.max(1, Math.floor(this.#maxTextBytes / 4)))
      const whole = Buffer.from(content).toString()
      if (path === undefined && grep === undefined) return rangeOf(whole, offset, length)
      const { search } = await import('@jmespath-community/jmespath')
      const find = () => {
        if (path === undefined) return matchingLines(whole, new RegExp(grep ?? '', 'u'))
        const value = search(JSON.parse(whole), path)
        return typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 1)
      }
      // Either expression can take forever.
      const part = await inTurn(find).catch(({ message }: Error) => {
        throw new Error(`Cannot be read like this: ${message}; use offset and length, or another expression`)
      })
      return part.length > length ? rangeOf(part, offset, length) : part
    }
    return modelTool('read_result', read)
  }

  #keepText({ text: given, result }: ToolSuccess, owner: ResultOwner): string | undefined {
    const text = given ?? (typeof result === 'string' ? result : JSON.stringify(result ?? null))
    const bytes = Buffer.byteLength(text)
    if (bytes <= this.#maxTextBytes) return undefined
    const value = isObjectLike(result) ? result : parsed(text)
    const isJson = isObjectLike(value) && (given === undefined || value !== result)
    const share = Math.min(1, this.#maxTextBytes / 4 / (HEAD_CHARS + TAIL_CHARS))
    return this.#add(Buffer.from(text), isJson ? 'application/json' : 'text/plain', owner, handle =>
      [
        text.slice(0, Math.floor(HEAD_CHARS * share)),
        `… [middle omitted: ${formatted(bytes)} bytes in total, ${shapeOf(value, text)}] …`,
        text.slice(-Math.floor(TAIL_CHARS * share)),
        `[The whole result is kept for ${KEPT_MINUTES} minutes as ${handle}. Read parts of it with read_result.]`,
      ].join('\n'),
    )
  }

  #keepBinaries({ content, result }: ToolSuccess, owner: ResultOwner): KeptPart[] {
    const blocks: readonly unknown[] = content ?? (Array.isArray(result) ? result : [])
    return blocks.flatMap((value, block) => {
      const { type, resource, data, mimeType: given } = isRecord(value) ? value : {}
      const file = type === 'resource' && isRecord(resource) ? resource : undefined
      const base64 = file ? file.blob : type === 'image' || type === 'audio' ? data : undefined
      if (typeof base64 !== 'string' || base64.length <= this.#maxTextBytes) return []
      const binary = Buffer.from(base64, 'base64')
      // Checked because it is foreign and becomes a header.
      const [mimeType = BINARY] = MIME_TYPE.exec(String(file ? file.mimeType : given).toLowerCase()) ?? []
      const what = `${file ? 'file' : type} ${mimeType}, ${formatted(binary.length)} bytes`
      const summary = (handle: string) => `[${what}: kept for ${KEPT_MINUTES} minutes as ${handle}]`
      const handle = this.#add(binary, mimeType, owner, summary)
      return [{ handle, mimeType, bytes: binary.length, block }]
    })
  }

  #add(content: Buffer, mimeType: string, owner: ResultOwner, summary: (handle: string) => string): string {
    const handle = `${HANDLE_PREFIX}${randomUUID()}`
    const expiresAt = this.#clock.now() + KEPT_MINUTES * 60_000
    this.#entries.set(handle, { mimeType, content, owner, expiresAt, summary: summary(handle) })
    this.#evict()
    return handle
  }

  #evict(): void {
    let bytes = [...this.#entries.values()].reduce((sum, { content }) => sum + content.length, 0)
    for (const [handle, { expiresAt, content }] of this.#entries) {
      if (expiresAt > this.#clock.now() && bytes <= MAX_BYTES) return
      bytes -= content.length
      this.#entries.delete(handle)
    }
  }
}

/** Whether content of that type is text. */
export function isText(mimeType: string): boolean {
  return mimeType.startsWith('text/') || mimeType === 'application/json'
}

/** The value of a JSON text, which many servers return; `undefined` if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return text.length <= MAX_PARSED_CHARS ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** One line about the structure of a result: keys and counts of JSON, lines of text. */
function shapeOf(value: unknown, text: string): string {
  const kind = (part: unknown) => (Array.isArray(part) ? `list of ${formatted(part.length)}` : typeof part)
  if (Array.isArray(value)) return `a ${kind(value)}`
  if (!isRecord(value)) return `text of ${formatted(text.split('\n').length)} lines`
  const keys = Object.keys(value).map(key => `${key} (${kind(value[key])})`)
  return `an object with ${keys.slice(0, MAX_KEYS).join(', ')}${keys.length > MAX_KEYS ? ' …' : ''}`
}

const formatted = (count: number) => count.toLocaleString('en-US')

function matchingLines(text: string, pattern: RegExp): string {
  const lines = text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${at + 1}: ${line}`] : []))
  return lines.map(line => line.slice(0, MAX_LINE_CHARS)).join('\n') || 'No line matches'
}

function rangeOf(text: string, offset: number, length: number): string {
  const part = text.slice(offset, offset + length)
  if (part === '') return `Nothing at offset ${offset}: the text has ${text.length} characters`
  const end = offset + part.length
  return end < text.length ? `${part}\n[${offset} to ${end} of ${text.length} characters]` : part
}
