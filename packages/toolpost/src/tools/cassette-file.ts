import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { distance } from 'fastest-levenshtein'
import type { ToolResult } from '../call/tool-result.ts'
import { cleaner } from '../logging/safe-value.ts'
import { isRecord } from '../util/guards.ts'
import { plainCopy } from '../util/plain-value.ts'

/*
 * A cassette is a JSONL file: a header, then one line per call and per reply of a model, in the order in which they ended,
 * without secrets.
 */

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

/** An entry that was read, with its line in the file. */
type Numbered<T> = T & { line: number }

export interface Cassette {
  file: string
  calls: Numbered<RecordedCall>[]
  replies: Numbered<RecordedReply>[]
  /** What could not be read, in a sentence; the rest is usable. */
  problem?: string
}

/** A file that cannot be used as a cassette. */
export class CassetteError extends Error {
  override name = 'CassetteError'
}

const LIMITS = { maxDepth: 64, maxEntries: 250_000, maxBytes: 10_000_000, maxValues: 250_000, cleaner }

/** As it is written: plain data without secrets. What is looked for in a cassette has to be cleaned as well. */
export function recordable(value: unknown): unknown {
  return plainCopy(value, LIMITS).value
}

export const cassetteHeader = () => `${JSON.stringify({ cassette: VERSION })}\n`

export function cassetteLine(entry: Entry): string {
  return `${JSON.stringify(recordable(entry))}\n`
}

/** Appends to a cassette, which is created if necessary. Throws a CassetteError rather than change another kind of file. */
export function cassetteWriter(file: string): (entry: Entry) => void {
  const before = existsSync(file) ? text(file) : ''
  const version = parsed(before.split('\n')[0]).cassette
  if (before !== '' && version !== VERSION)
    throw new CassetteError(
      `${file} exists and is not a cassette of version ${VERSION}; record to another file`,
    )
  try {
    mkdirSync(dirname(file), { recursive: true })
    const cut = before === '' || before.endsWith('\n') ? '' : '\n'
    appendFileSync(file, before === '' ? cassetteHeader() : cut, { mode: 0o600 })
  } catch (error) {
    throw new CassetteError(`Cannot record to ${file}: ${(error as Error).message}`, { cause: error })
  }
  return entry => appendFileSync(file, cassetteLine(entry))
}

/** Reads whatever can be read; `problem` says what cannot. Throws a CassetteError if nothing can. */
export function readCassette(file: string): Cassette {
  const lines = text(file).split('\n')
  const cassette: Cassette = { file, calls: [], replies: [] }
  const version = parsed(lines[0]).cassette
  const unreadable: number[] = []
  for (const [index, content] of lines.entries()) {
    if ((index === 0 && version !== undefined) || content.trim() === '') continue
    const entry = entryIn(content)
    const line = index + 1
    if (entry?.type === 'call') cassette.calls.push({ ...entry, line })
    else if (entry) cassette.replies.push({ ...entry, line })
    else unreadable.push(line)
  }
  const count = cassette.calls.length + cassette.replies.length
  if (version === undefined && count === 0)
    throw new CassetteError(`${file} is not a cassette: its first line is not {"cassette":${VERSION}}`)
  const problems = [
    version === undefined && 'it has no header',
    version !== undefined && version !== VERSION && `it has version ${version}, not ${VERSION}`,
    unreadable.length > 0 && `line ${unreadable.slice(0, 5).join(', ')} cannot be read (cut off?)`,
  ].filter(problem => problem !== false)
  if (problems.length > 0)
    cassette.problem = `${file}: ${problems.join(', and ')}; the other ${count} entries are used`
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

function text(file: string): string {
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

function entryIn(line: string): Entry | undefined {
  const entry = parsed(line)
  const { type, tool, result, question, calls } = entry
  const isCall = type === 'call' && typeof tool === 'string' && isRecord(result) && 'success' in result
  const isReply = type === 'reply' && typeof question === 'string' && Array.isArray(calls)
  return isCall || isReply ? (entry as unknown as Entry) : undefined
}
