import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { distance } from 'fastest-levenshtein'
import type { ToolResult } from '../call/tool-result.ts'
import { plainCopy } from '../logging/plain-value.ts'
import { cleaner } from '../logging/safe-value.ts'
import { isRecord } from '../util/guards.ts'

/** Of cassettes: JSONL files with a header, then a line for each call and each reply of a model, without secrets. */
const VERSION = 1

export interface RecordedCall {
  type: 'call'
  tool: string
  /** As the tool got them. */
  args: unknown
  /** As the caller gave them, if that differs. */
  given?: unknown
  result: ToolResult
}

/** A model's reply in one turn. */
export interface RecordedReply {
  type: 'reply'
  /** The user's last message. */
  question: string
  text: string
  content: string | object[]
  calls: { id?: string | undefined; name: string; args: unknown }[]
  usage?: { input?: number | undefined; output?: number | undefined }
}

type Entry = RecordedCall | RecordedReply

export interface Cassette {
  file: string
  /** Each with its line in the file. */
  calls: (RecordedCall & { line: number })[]
  replies: (RecordedReply & { line: number })[]
  /** Set if the last line is cut off, which is ignored. */
  problem?: string
}

/** A file that cannot be used as a cassette. */
class CassetteError extends Error {
  override name = 'CassetteError'
}

const LIMITS = { maxDepth: 64, maxEntries: 250_000, maxBytes: 10_000_000, maxValues: 250_000, cleaner }

/** As it is written: plain data without secrets. What is looked for in a cassette has to be cleaned as well. */
export function recordable(value: unknown): unknown {
  return plainCopy(value, LIMITS).value
}

const cassetteHeader = () => `${JSON.stringify({ cassette: VERSION })}\n`

function cassetteLine(entry: Entry): string {
  return `${JSON.stringify(recordable(entry))}\n`
}

/** A cassette of calls that were made before. */
export function cassetteText(calls: readonly Omit<RecordedCall, 'type'>[]): string {
  const lines = calls.map(({ tool, args, result }) => cassetteLine({ type: 'call', tool, args, result }))
  return `${cassetteHeader()}${lines.join('')}`
}

/** Appends to a cassette, which is created if necessary. Throws a CassetteError rather than change another kind of file. */
export function cassetteWriter(file: string): (entry: Entry) => void {
  const before = existsSync(file) ? textOf(file) : ''
  const problem = before === '' ? undefined : headerProblem(file, before)
  if (problem) throw new CassetteError(`${problem}; record to another file`)
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (before === '') appendFileSync(file, cassetteHeader(), { mode: 0o600 })
    // A last line that was cut off would be in the way.
    else truncateSync(file, Buffer.byteLength(before.slice(0, before.lastIndexOf('\n') + 1)))
  } catch (error) {
    throw new CassetteError(`Cannot record to ${file}: ${(error as Error).message}`, { cause: error })
  }
  return entry => appendFileSync(file, cassetteLine(entry))
}

/** Throws a CassetteError that names the line that cannot be read. A last line that was cut off is ignored. */
export function readCassette(file: string): Cassette {
  const text = textOf(file)
  const problem = headerProblem(file, text)
  if (problem) throw new CassetteError(problem)
  const lines = text.split('\n')
  const cassette: Cassette = { file, calls: [], replies: [] }
  for (const [index, content] of lines.entries()) {
    if (index === 0 || content.trim() === '') continue
    const line = index + 1
    const entry = parsed(content)
    const { type, result, calls } = entry
    if (type === 'call' && isRecord(result)) cassette.calls.push({ ...entry, line } as never)
    else if (type === 'reply' && Array.isArray(calls)) cassette.replies.push({ ...entry, line } as never)
    else if (line < lines.length) throw new CassetteError(`${file}: line ${line} cannot be read`)
    else cassette.problem = `${file}: line ${line} is cut off and was ignored`
  }
  return cassette
}

/** The entry whose text is most like `wanted`. */
export function nearest<T>(
  entries: readonly T[],
  wanted: string,
  textOf: (entry: T) => string,
): T | undefined {
  const far = (entry: T) => distance(textOf(entry).slice(0, 500), wanted.slice(0, 500))
  return entries.map(entry => ({ entry, far: far(entry) })).sort((a, b) => a.far - b.far)[0]?.entry
}

function headerProblem(file: string, text: string): string | undefined {
  const { cassette } = parsed(text.split('\n', 1)[0])
  if (cassette === undefined)
    return `${file} is not a cassette: its first line is not {"cassette":${VERSION}}`
  return cassette === VERSION ? undefined : `${file} is a cassette of version ${cassette}, not ${VERSION}`
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CassetteError(`Cannot read the cassette ${file}: ${(error as Error).message}`, { cause: error })
  }
}

function parsed(line = ''): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
