import { search } from '@jmespath-community/jmespath'
import { RE2JS } from 're2js'

interface PartRequest {
  text: string
  grep?: string | undefined
  path?: string | undefined
  maxChars: number
}

/**
 * A part of a text. Runs in a child process, because an expression can take forever. Throws with a message that a model
 * can act on.
 */
export function readPart({ text, grep = '', path, maxChars }: PartRequest): string {
  return path === undefined ? matchingLines(text, grep, maxChars) : atPath(text, path)
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
  const lines = text
    .split('\n')
    .flatMap((line, at) => (pattern.matcher(line).find() ? [`${at + 1}: ${line}`] : []))
  if (lines.length === 0) return 'No line matches'
  const found: string[] = []
  let chars = 0
  for (const line of lines.map(each => each.slice(0, 1_000))) {
    chars += line.length + 1
    if (chars > maxChars) break
    found.push(line)
  }
  const more = lines.length - found.length
  return found.join('\n') + (more > 0 ? `\n… and ${more} more matching lines` : '')
}

function patternOf(grep: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(grep))
  } catch (error) {
    throw new Error(`Invalid pattern: ${(error as Error).message}`)
  }
}
