import { search } from '@jmespath-community/jmespath'
import { RE2JS } from 're2js'

interface PartRequest {
  text: string
  grep?: string | undefined
  path?: string | undefined
  maxChars: number
}

const MAX_LINE_CHARS = 1_000

/**
 * A part of a text. Runs in a child process, because an expression can take forever. Throws with a message that a model
 * can act on.
 */
export function readPart({ text, grep = '', path, maxChars }: PartRequest): string {
  if (path === undefined) return matchingLines(text, grep, maxChars)
  const value = attempt('The result is not JSON, so it has no paths', () => JSON.parse(text))
  const found = attempt('Invalid path; expected JMESPath, such as items[0].name', () => search(value, path))
  return typeof found === 'string' ? found : (JSON.stringify(found, null, 1) ?? 'null')
}

function matchingLines(text: string, grep: string, maxChars: number): string {
  const pattern = attempt('Invalid pattern', () => RE2JS.compile(RE2JS.translateRegExp(grep)))
  const lines = text
    .split('\n')
    .flatMap((line, at) =>
      pattern.matcher(line).find() ? [`${at + 1}: ${line}`.slice(0, MAX_LINE_CHARS)] : [],
    )
  let chars = 0
  const shown = lines.filter(line => {
    chars += line.length + 1
    return chars <= maxChars
  })
  const more = lines.length - shown.length
  return shown.join('\n') + (more > 0 ? `\n… and ${more} more matching lines` : '') || 'No line matches'
}

function attempt<T>(problem: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new Error(`${problem}: ${(error as Error).message}`)
  }
}
