import type { KeptPart, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { isObjectLike, isRecord } from '../../util/guards.ts'
import type { Tool } from '../tool.ts'
import { readResultTool, whyMissing } from './read-result.ts'
import { type ResultOwner, ResultStore, type ResultStoreOptions } from './result-store.ts'

export interface BigResultsOptions extends ResultStoreOptions {
  /** Texts up to this size are passed on whole. */
  maxTextBytes: number
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
  /** How long results are kept. */
  readonly minutes: number

  constructor(options: BigResultsOptions) {
    this.store = new ResultStore(options)
    this.maxTextBytes = options.maxTextBytes
    this.minutes = Math.round(this.store.maxAgeMs / 60_000)
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
      const found = this.store.read(handle, () => true)
      const isGone = typeof found === 'string'
      return { handle, summary: isGone ? `[${whyMissing(handle, found, this.minutes)}]` : found.summary }
    }
    const text = kept[0]?.handle === first ? undefined : part(first)
    return { text, binaries: kept.map(({ handle }) => part(handle)) }
  }

  /** `read_result` for the results of `owner`. */
  tool(owner: ResultOwner): Tool {
    return readResultTool(this, owner)
  }

  #keepText({ text: given, result }: ToolSuccess, owner: ResultOwner): string | undefined {
    const text = given ?? (typeof result === 'string' ? result : JSON.stringify(result ?? null))
    const bytes = Buffer.byteLength(text)
    if (bytes <= this.maxTextBytes) return undefined
    const value = isObjectLike(result) ? result : parsed(text)
    const isJson = isObjectLike(value) && (given === undefined || value !== result)
    const share = Math.min(1, this.maxTextBytes / 4 / (HEAD_CHARS + TAIL_CHARS))
    const summary = (handle: string) =>
      [
        text.slice(0, Math.floor(HEAD_CHARS * share)),
        `… [middle omitted: ${formatted(bytes)} bytes in total, ${shapeOf(value, text)}] …`,
        text.slice(-Math.floor(TAIL_CHARS * share)),
        `[The whole result is kept for ${this.minutes} minutes as ${handle}. Read parts of it with read_result.]`,
      ].join('\n')
    return this.store.keep(Buffer.from(text), isJson ? 'application/json' : 'text/plain', owner, summary)
  }

  #keepBinaries({ content, result }: ToolSuccess, owner: ResultOwner): KeptPart[] {
    const blocks: readonly unknown[] = content ?? (Array.isArray(result) ? result : [])
    return blocks.flatMap((value, block) => {
      const { type, resource, data, mimeType: given } = isRecord(value) ? value : {}
      const file = type === 'resource' && isRecord(resource) ? resource : undefined
      const base64 = file ? file.blob : type === 'image' || type === 'audio' ? data : undefined
      if (typeof base64 !== 'string' || base64.length <= this.maxTextBytes) return []
      const binary = Buffer.from(base64, 'base64')
      const mimeType = validType(file ? file.mimeType : given)
      const what = `${file ? 'file' : type} ${mimeType}, ${formatted(binary.length)} bytes`
      const handle = this.store.keep(binary, mimeType, owner, handle => {
        return `[${what}: kept for ${this.minutes} minutes as ${handle}]`
      })
      return [{ handle, mimeType, bytes: binary.length, block }]
    })
  }
}

/** Checked because it is foreign and becomes a header. */
function validType(mimeType: unknown): string {
  const isValid = typeof mimeType === 'string' && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimeType)
  return isValid ? mimeType.toLowerCase() : 'application/octet-stream'
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
