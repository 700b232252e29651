import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ToolResult } from '../../call/tool-result.ts'
import { type IsolatedFunction, isolate } from '../../isolation/isolated-function.ts'
import { JsonWriter } from '../../runtime/json-writer.ts'
import { compiledFile } from '../../runtime/package-root.ts'
import { defineTool, type InvokeOptions, type Tool } from '../tool.ts'
import { endsOf, shapeOf } from './describe-result.ts'
import {
  HANDLE_PREFIX,
  type KeptResult,
  type ResultOwner,
  ResultStore,
  type ResultStoreOptions,
} from './result-store.ts'

export interface BigResultsOptions extends ResultStoreOptions {
  /** Texts up to this long are read whole. */
  maxTextBytes: number
}

/** How much of both ends of a big result is read at once. */
const HEAD_CHARS = 6_000
const TAIL_CHARS = 2_000
const DEFAULT_LENGTH = 8_000
/** Longer texts are not searched: they would have to be copied into another process. */
const MAX_SEARCHED_BYTES = 32_000_000

let reader: IsolatedFunction | undefined

/** Keeps what is too long for a model, and lets it read parts of it. */
export class BigResults {
  readonly store: ResultStore
  readonly #maxTextBytes: number

  constructor({ maxTextBytes, ...options }: BigResultsOptions) {
    this.store = new ResultStore(options)
    this.#maxTextBytes = maxTextBytes
  }

  /** What a model reads in place of a result that is too long, and where that is kept; `undefined` if it is not. */
  async shorten(
    result: ToolResult,
    owner: ResultOwner,
  ): Promise<{ text: string; kept: KeptResult } | undefined> {
    if (!result.success) return undefined
    const { result: value } = result
    const text = result.text ?? (typeof value === 'string' ? value : await writtenText(value))
    if (text === undefined || text.length <= this.#maxTextBytes / 4) return undefined
    const content = Buffer.from(text)
    if (content.length <= this.#maxTextBytes) return undefined
    const isJson = typeof value !== 'string' && result.text === undefined
    const kept = this.store.keep(content, isJson ? 'application/json' : 'text/plain', owner)
    return kept && { text: this.#told(text, value, kept), kept }
  }

  #told(text: string, value: unknown, { handle, bytes }: KeptResult): string {
    const { head, tail } = endsOf(text, HEAD_CHARS, TAIL_CHARS)
    const minutes = Math.round(this.store.maxAgeMs / 60_000)
    return [
      head,
      `… [the middle is left out: ${bytes.toLocaleString('en-US')} bytes in all, ${shapeOf(value, text)}] …`,
      tail,
      `[The whole result is kept for ${minutes} minutes as ${handle}. Read parts of it with read_result.]`,
    ].join('\n')
  }

  /** `read_result`, for whoever the results belong to. */
  tool(owner: ResultOwner): Tool {
    return defineTool({
      name: 'read_result',
      description:
        'Reads a part of a result that was too long: a range, the lines that match, or what is at a path.',
      schema: {
        type: 'object',
        properties: {
          handle: { type: 'string', description: `Begins with ${HANDLE_PREFIX}` },
          offset: { type: 'integer', minimum: 0, description: 'Where to begin, in characters' },
          length: {
            type: 'integer',
            minimum: 1,
            description: `How many characters; ${DEFAULT_LENGTH} if left out`,
          },
          grep: {
            type: 'string',
            description: 'A regular expression: the lines that match, with their numbers',
          },
          path: { type: 'string', description: 'JMESPath, for results that are JSON, such as items[0].name' },
        },
        required: ['handle'],
      },
      readOnly: true,
      handler: (args, options) => this.#readPart(args, owner, options),
    })
  }

  async #readPart(args: ReadArguments, owner: ResultOwner, options: InvokeOptions): Promise<string> {
    const { handle, grep, path, offset = 0 } = args
    const content = await this.store.read(handle, owner)
    if (!content)
      throw new Error(`There is no result ${handle} here: it expired, or belongs to another conversation`)
    const length = Math.min(args.length ?? DEFAULT_LENGTH, this.#maxTextBytes / 4)
    if (grep === undefined && path === undefined) return rangeOf(content.toString(), offset, length)
    if (content.length > MAX_SEARCHED_BYTES)
      throw new Error('This result is too long to be searched; read it with offset and length')
    const found = (await readInChild({ text: content.toString(), grep, path, maxChars: length }, options))
      .part
    return found.length > length ? rangeOf(found, offset, length) : found
  }
}

interface ReadArguments {
  handle: string
  offset?: number | undefined
  length?: number | undefined
  grep?: string | undefined
  path?: string | undefined
}

async function readInChild(request: object, options: InvokeOptions): Promise<{ part: string }> {
  reader ??= isolate({
    name: 'read_result',
    module: compiledFile('tools/results/read-part-child.js'),
    export: 'readPart',
    heapMb: 512,
  })
  return (await reader(request, options)) as { part: string }
}

function rangeOf(text: string, offset: number, length: number): string {
  const part = text.slice(offset, offset + length)
  if (part === '') return `There is nothing at ${offset}: the text has ${text.length} characters`
  const end = offset + part.length
  return end < text.length ? `${part}\n[${offset} to ${end} of ${text.length} characters]` : part
}

/** Any value as JSON, in slices; `undefined` if even that is too long to be kept. */
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
