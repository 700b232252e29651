import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KeptPart, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { isObjectLike } from '../../runtime/guards.ts'
import { JsonWriter } from '../../runtime/json-writer.ts'
import type { Tool } from '../tool.ts'
import { binariesOf } from './binary-blocks.ts'
import { endsOf, jsonIn, shapeOf } from './describe-result.ts'
import { readResultTool, whyMissing } from './read-result.ts'
import { type KeptResult, type ResultOwner, ResultStore, type ResultStoreOptions } from './result-store.ts'

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

/** Keeps results that are too long for a model, and lets it read parts of them. */
export class BigResults {
  readonly store: ResultStore
  readonly maxTextBytes: number

  constructor({ maxTextBytes, ...options }: BigResultsOptions) {
    this.store = new ResultStore(options)
    this.maxTextBytes = maxTextBytes
  }

  /**
   * Keeps the text of a result if it is too long for a model, and its long binary content; the result then has the handles
   * of both. Returns the same result.
   */
  async keep(result: ToolResult, owner: ResultOwner): Promise<ToolResult> {
    if (!result.success || result.handle !== undefined) return result
    try {
      return await this.#keep(result, owner)
    } catch {
      // A value that throws when it is read.
      return result
    }
  }

  async #keep(result: ToolSuccess, owner: ResultOwner): Promise<ToolResult> {
    const text = result.text ?? textNow(result.result) ?? (await writtenText(result.result))
    const whole = text === undefined ? undefined : await this.#keepText(text, result, owner)
    const binaries = this.#keepBinaries(result, owner)
    const [handle] = [...(whole ? [whole] : []), ...binaries].map(kept => kept.handle)
    if (handle === undefined) return result
    result.handle = handle
    if (binaries.length > 0) result.kept = binaries
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

  async #keepText(text: string, result: ToolSuccess, owner: ResultOwner) {
    if (text.length <= this.maxTextBytes / 4) return undefined
    const content = Buffer.from(text)
    if (content.length <= this.maxTextBytes) return undefined
    const value = isObjectLike(result.result) ? result.result : await jsonIn(text)
    const isJson = isObjectLike(value) && (result.text === undefined || value !== result.result)
    const mimeType = isJson ? 'application/json' : 'text/plain'
    const shape = shapeOf(value, text)
    return this.store.keep({ content, mimeType, owner, summary: handle => this.#told(text, shape, handle) })
  }

  #told(text: string, shape: string, handle: string): string {
    const share = Math.min(1, this.maxTextBytes / 4 / (HEAD_CHARS + TAIL_CHARS))
    const { head, tail } = endsOf(text, Math.floor(HEAD_CHARS * share), Math.floor(TAIL_CHARS * share))
    const bytes = Buffer.byteLength(text).toLocaleString('en-US')
    return [
      head,
      `… [middle omitted: ${bytes} bytes in total, ${shape}] …`,
      tail,
      `[The whole result is kept for ${this.minutes} minutes as ${handle}. Read parts of it with read_result.]`,
    ].join('\n')
  }

  #keepBinaries(result: ToolSuccess, owner: ResultOwner): KeptPart[] {
    const parts: KeptPart[] = []
    for (const { block, kind, data, mimeType } of binariesOf(result)) {
      if (data.length <= this.maxTextBytes) continue
      const content = Buffer.from(data, 'base64')
      const bytes = content.length
      const size = `${kind} ${mimeType}, ${bytes.toLocaleString('en-US')} bytes`
      const summary = (handle: string) => `[${size}: kept for ${this.minutes} minutes as ${handle}]`
      const kept = this.store.keep({ content, mimeType, owner, summary })
      if (kept) parts.push({ handle: kept.handle, mimeType, bytes, block })
    }
    return parts
  }
}

/** The text of a value, if writing it takes no time. */
function textNow(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const writer = new JsonWriter(value ?? null)
  return writer.isDone ? writer.next() : undefined
}

/** Any value as JSON, written in slices; `undefined` if that is too long to be kept. */
async function writtenText(value: unknown): Promise<string | undefined> {
  const writer = new JsonWriter(value ?? null)
  const parts: string[] = []
  while (!writer.isDone && writer.isWhole) {
    parts.push(writer.next())
    await nextTurn()
  }
  parts.push(writer.rest())
  return writer.isWhole ? parts.join('') : undefined
}
