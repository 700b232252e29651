import { inTurn, TimeLimitError } from '../../schema/limits.ts'
import { defineTool, type Tool } from '../tool.ts'
import type { BigResults } from './big-results.ts'
import { HANDLE_PREFIX, type Missing, type ResultOwner } from './result-store.ts'

const MAX_LINE_CHARS = 1_000

/** `read_result`: parts of the results that belong to `owner`, which others cannot read. */
export function readResultTool(results: BigResults, { caller, conversation }: ResultOwner): Tool {
  const text = (description: string) => ({ type: 'string', description }) as const
  return defineTool({
    name: 'read_result',
    description:
      'Reads a part of a result that was too long: a range, the lines that match, or the value at a path.',
    schema: {
      type: 'object',
      properties: {
        handle: text(`Begins with ${HANDLE_PREFIX}`),
        offset: { type: 'integer', minimum: 0, description: 'Where to begin, in characters' },
        length: { type: 'integer', minimum: 1, description: 'How many characters; 8000 if left out' },
        grep: text('A regular expression: the lines that match, with their numbers'),
        path: text('JMESPath, for results that are JSON, such as items[0].name'),
      },
      required: ['handle'],
    },
    readOnly: true,
    handler: async ({ handle, grep, path, offset = 0, length: wanted = 8_000 }) => {
      const found = results.store.read(
        handle,
        owner => owner.caller === caller && owner.conversation === conversation,
      )
      if (typeof found === 'string') throw new Error(whyMissing(handle, found, results.minutes))
      const { content, mimeType } = found
      if (!isText(mimeType))
        throw new Error(`${handle} is ${mimeType} (${content.length} bytes) and cannot be read as text`)
      const length = Math.min(wanted, Math.max(1, Math.floor(results.maxTextBytes / 4)))
      const whole = content.toString()
      if (path === undefined && grep === undefined) return rangeOf(whole, offset, length)
      const { search } = await import('@jmespath-community/jmespath')
      // Either expression can take forever.
      const read = () => (path === undefined ? matchingLines(whole, grep) : valueAt(whole, path, search))
      const part = await inTurn(read).catch(error => {
        if (!(error instanceof TimeLimitError)) throw error
        throw new Error(`That takes ${error.message}; read the result with offset and length`)
      })
      return part.length > length ? rangeOf(part, offset, length) : part
    },
  })
}

function valueAt(text: string, path: string, search: (value: never, path: string) => unknown): string {
  const value = attempt('The result is not JSON, so it has no paths', () => JSON.parse(text))
  const found = attempt('Invalid path; expected JMESPath, such as items[0].name', () =>
    search(value as never, path),
  )
  return typeof found === 'string' ? found : (JSON.stringify(found, null, 1) ?? 'null')
}

function matchingLines(text: string, grep = ''): string {
  const pattern = attempt('Invalid pattern', () => new RegExp(grep, 'u'))
  const lines = text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${at + 1}: ${line}`] : []))
  return lines.map(line => line.slice(0, MAX_LINE_CHARS)).join('\n') || 'No line matches'
}

function attempt<T>(problem: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new Error(`${problem}: ${(error as Error).message}`)
  }
}

function rangeOf(text: string, offset: number, length: number): string {
  const part = text.slice(offset, offset + length)
  if (part === '') return `Nothing at offset ${offset}: the text has ${text.length} characters`
  const end = offset + part.length
  return end < text.length ? `${part}\n[${offset} to ${end} of ${text.length} characters]` : part
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
