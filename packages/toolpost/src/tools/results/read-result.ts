import { compiledFile } from '../../util/package-root.ts'
import { type IsolatedFunction, isolate } from '../isolated.ts'
import { defineTool, type InvokeOptions, type Tool } from '../tool.ts'
import type { BigResults } from './big-results.ts'
import { HANDLE_PREFIX, type Missing, onlyFor, type ResultOwner } from './result-store.ts'

export const READ_RESULT = 'read_result'
const DEFAULT_LENGTH = 8_000
/** Longer texts are not searched, as they would have to be copied to another process. */
const MAX_SEARCHED_BYTES = 32_000_000

let reader: IsolatedFunction | undefined

/** `read_result`: parts of the results that belong to `owner`. */
export function readResultTool(results: BigResults, owner: ResultOwner): Tool {
  return defineTool({
    name: READ_RESULT,
    description:
      'Reads a part of a result that was too long: a range, the lines that match, or the value at a path.',
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
    handler: (args, options) => readPart(args, { results, owner, options }),
  })
}

interface ReadArguments {
  handle: string
  offset?: number | undefined
  length?: number | undefined
  grep?: string | undefined
  path?: string | undefined
}

async function readPart(
  { handle, grep, path, offset = 0, length: wanted = DEFAULT_LENGTH }: ReadArguments,
  { results, owner, options }: { results: BigResults; owner: ResultOwner; options: InvokeOptions },
): Promise<string> {
  const found = await results.store.read(handle, onlyFor(owner))
  if (typeof found === 'string') throw new Error(whyMissing(handle, found, results.minutes))
  const { content, mimeType, bytes } = found
  if (!isText(mimeType))
    throw new Error(`${handle} is ${mimeType} (${bytes} bytes) and cannot be read as text`)
  const length = Math.min(wanted, Math.max(1, Math.floor(results.maxTextBytes / 4)))
  if (grep === undefined && path === undefined) return rangeOf(content.toString(), offset, length)
  if (content.length > MAX_SEARCHED_BYTES)
    throw new Error('This result is too long to search; read it with offset and length')
  reader ??= isolate({
    name: READ_RESULT,
    module: compiledFile('tools/results/read-part-child.js'),
    export: 'readPart',
    heapMb: 512,
  })
  const part = String(await reader({ text: content.toString(), grep, path, maxChars: length }, options))
  return part.length > length ? rangeOf(part, offset, length) : part
}

/** Why a result cannot be read. */
export function whyMissing(handle: string, missing: Missing, minutes: number): string {
  if (missing === 'expired')
    return `The result ${handle} has expired: results are kept for ${minutes} minutes, and the oldest are evicted first. Call the tool again`
  if (missing === 'foreign') return `The result ${handle} belongs to another caller or conversation`
  return `There is no result ${handle}; handles begin with ${HANDLE_PREFIX}`
}

/** Whether content of that type is text. */
export function isText(mimeType: string): boolean {
  return mimeType.startsWith('text/') || mimeType === 'application/json'
}

function rangeOf(text: string, offset: number, length: number): string {
  const part = text.slice(offset, offset + length)
  if (part === '') return `Nothing at offset ${offset}: the text has ${text.length} characters`
  const end = offset + part.length
  return end < text.length ? `${part}\n[${offset} to ${end} of ${text.length} characters]` : part
}
