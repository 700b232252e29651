import { search } from '@jmespath-community/jmespath'
import { RE2JS } from 're2js'

/** A request for part of a text. Runs in a child process, because an expression can take forever. */
export interface PartRequest {
  text: string
  grep?: string | undefined
  path?: string | undefined
  maxChars: number
}

/** The part of the text, as text. Throws with a message that a model can act on. */
export function readPart({ text, grep, path, maxChars }: PartRequest): { part: string } {
  return { part: path === undefined ? matchingLines(text, grep ?? '', maxChars) : atPath(text, path) }
}

function atPath(text: string, path: string): string {
  const value = parsed(text)
  try {
    const found = search(value as never, path)
    return typeof found === 'string' ? found : (JSON.stringify(found, null, 1) ?? 'null')
  } catch (error) {
    throw new Error(`Invalid path: ${(error as Error).message}; expected JMESPath, such as items[0].name`)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The result is not JSON, so it has no paths; use grep, or offset and length')
  }
}

function matchingLines(text: string, grep: string, maxChars: number): string {
  const pattern = patternOf(grep)
  const found: string[] = []
  let chars = 0
  let count = 0
  let line = 1
  for (let start = 0; start <= text.length; line++) {
    const end = text.indexOf('\n', start)
    const content = text.slice(start, end < 0 ? text.length : end)
    if (pattern.matcher(content).find()) {
      count++
      const shown = `${line}: ${content.slice(0, 1_000)}`
      if (chars + shown.length <= maxChars) found.push(shown)
      chars += shown.length + 1
    }
    if (end < 0) break
    start = end + 1
  }
  if (count === 0) return 'No line matches'
  const more = count - found.length
  return found.join('\n') + (more > 0 ? `\n… and ${more} more matching lines` : '')
}

function patternOf(grep: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(grep))
  } catch (error) {
    throw new Error(`Invalid pattern: ${(error as Error).message}`)
  }
}
