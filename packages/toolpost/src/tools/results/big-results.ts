import type { KeptPart, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { isObjectLike, isRecord } from '../../util/guards.ts'
import type { Tool } from '../tool.ts'
import { readResultTool, whyMissing } from './read-result.ts'
import type { KeptResult, ResultOwner, ResultStore, ResultStoreOptions } from './result-store.ts'
import { createResultStore } from './result-store.ts'

export interface BigResultsOptions extends ResultStoreOptions {
  /** Texts up to this size are passed on whole. */
  maxTextBytes: number
}

/** The kept parts of one result: its text if that is long, and its long binary content. */
export interface KeptParts {
  text?: KeptResult
  binaries: KeptResult[]
}

/** How much of each end of a big result a model sees; less if `maxTextBytes` is small. */
const HEAD_CHARS = 6_000
const TAIL_CHARS = 2_000
const MAX_KEYS = 20
/** Longer JSON text is described as text; its reader can still ask for a path. */
const MAX_PARSED_CHARS = 1_000_000

/** Keeps results that are too long for a model, and lets it read parts of them. Installed by `longResults`. */
export class BigResults {
  readonly store: ResultStore
  readonly maxTextBytes: number

  constructor({ maxTextBytes, ...options }: BigResultsOptions) {
    this.store = createResultStore(options)
    this.maxTextBytes = maxTextBytes
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
      const handle = text?.handle ?? binaries[0]?.handle
      if (handle !== undefined) result.handle = handle
      if (binaries.length > 0) result.kept = binaries
    } catch {
      // A value that throws when it is read, or has no JSON.
    }
    return result
  }

  /** The kept parts of a result; `undefined` if there are none. */
  keptOf(result: ToolResult): KeptParts | undefined {
    if (!result.success || result.handle === undefined) return undefined
    const { handle, kept = [] } = result
    const binaries = kept.map(part => this.#known(part.handle))
    return kept[0]?.handle === handle ? { binaries } : { text: this.#known(handle), binaries }
  }

  /** It may already have been evicted. */
  #known(handle: string): KeptResult {
    const found = this.store.find(handle, () => true)
    if (typeof found !== 'string') return found
    const summary = `[${whyMissing(handle, found, this.minutes)}]`
    return { handle, mimeType: 'text/plain', bytes: 0, expiresAt: 0, summary }
  }

  /** `read_result` for the results of `owner`. */
  tool(owner: ResultOwner): Tool {
    return readResultTool(this, owner)
  }

  get minutes(): number {
    return Math.round(this.store.maxAgeMs / 60_000)
  }

  #keepText({ text: given, result }: ToolSuccess, owner: ResultOwner): KeptResult | undefined {
    const text = given ?? (typeof result === 'string' ? result : JSON.stringify(result ?? null))
    if (text === undefined || Buffer.byteLength(text) <= this.maxTextBytes) return undefined
    const value = isObjectLike(result) ? result : parsed(text)
    const isJson = isObjectLike(value) && (given === undefined || value !== result)
    const mimeType = isJson ? 'application/json' : 'text/plain'
    const summary = (handle: string) => this.#summary(text, shapeOf(value, text), handle)
    return this.store.keep({ content: Buffer.from(text), mimeType, owner, summary })
  }

  #summary(text: string, shape: string, handle: string): string {
    const share = Math.min(1, this.maxTextBytes / 4 / (HEAD_CHARS + TAIL_CHARS))
    return [
      // Never half a character.
      text.slice(0, Math.floor(HEAD_CHARS * share)).replace(/[\ud800-\udbff]$/, ''),
      `… [middle omitted: ${formatted(Buffer.byteLength(text))} bytes in total, ${shape}] …`,
      text.slice(-Math.floor(TAIL_CHARS * share)).replace(/^[\udc00-\udfff]/, ''),
      `[The whole result is kept for ${this.minutes} minutes as ${handle}. Read parts of it with read_result.]`,
    ].join('\n')
  }

  #keepBinaries(result: ToolSuccess, owner: ResultOwner): KeptPart[] {
    return blocksOf(result).flatMap((value, block) => {
      const { kind, data = '', mimeType = '' } = binaryIn(value) ?? {}
      if (data.length <= this.maxTextBytes) return []
      const content = Buffer.from(data, 'base64')
      const bytes = content.length
      const summary = (handle: string) =>
        `[${kind} ${mimeType}, ${formatted(bytes)} bytes: kept for ${this.minutes} minutes as ${handle}]`
      const kept = this.store.keep({ content, mimeType, owner, summary })
      return kept ? [{ handle: kept.handle, mimeType, bytes, block }] : []
    })
  }
}

/** The MCP content blocks of a result. */
function blocksOf({ content, result }: ToolSuccess): readonly unknown[] {
  return content ?? (Array.isArray(result) ? result : [])
}

/** The base64 data of a block: an image, audio, the blob of a resource. */
function binaryIn(block: unknown): { kind: string; data: string; mimeType: string } | undefined {
  if (!isRecord(block)) return undefined
  const { type, resource } = block
  const isFile = type === 'resource' && isRecord(resource)
  const { data, mimeType } = isFile ? { data: resource.blob, mimeType: resource.mimeType } : block
  if ((!isFile && type !== 'image' && type !== 'audio') || typeof data !== 'string') return undefined
  // Checked because it is foreign and becomes a header.
  const isValid = typeof mimeType === 'string' && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimeType)
  return {
    kind: isFile ? 'file' : type,
    data,
    mimeType: isValid ? mimeType.toLowerCase() : 'application/octet-stream',
  }
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
  if (Array.isArray(value))
    return `a ${kindOf(value)}${isRecord(value[0]) ? ` with ${keysOf(value[0])}` : ''}`
  return isRecord(value)
    ? `an object with ${keysOf(value)}`
    : `text of ${formatted(text.split('\n').length)} lines`
}

function keysOf(record: Record<string, unknown>): string {
  const keys = Object.keys(record)
  const shown = keys.slice(0, MAX_KEYS).map(key => `${key} (${kindOf(record[key])})`)
  return `${shown.join(', ')}${keys.length > MAX_KEYS ? ' …' : ''}`
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${formatted(value.length)}`
  return value === null ? 'null' : typeof value === 'string' ? 'text' : typeof value
}

function formatted(count: number): string {
  return count.toLocaleString('en-US')
}
