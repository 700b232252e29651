import { isRecord } from '../../api/http.ts'
import { parsedJson } from '../../text/json-text.ts'

export interface PastedServer {
  /** Empty if the pasted JSON has none. */
  name: string
  entry: Record<string, unknown>
}

const KEYS = ['mcpServers', 'servers', 'context_servers']

/** The servers in a snippet from some program's documentation: inside `mcpServers`, by name, or a single one. */
export function serversInText(text: string): PastedServer[] | string {
  // Documentation often omits the outer braces.
  const value = (parsedJson(text) ?? parsedJson(`{${text.replace(/,\s*$/, '')}}`))?.value
  if (!isRecord(value)) return 'This is not valid JSON, or it contains no server.'
  if (isEntry(value)) return [{ name: '', entry: value }]
  const inner =
    KEYS.map(key => value[key]).find(isRecord) ?? (isRecord(value.mcp) ? value.mcp.servers : value)
  const found = Object.entries(isRecord(inner) ? inner : {}).flatMap(([name, entry]) =>
    isRecord(entry) && isEntry(entry) ? [{ name, entry }] : [],
  )
  return found.length > 0 ? found : "No server in it has a 'command' or a 'url'."
}

function isEntry(value: Record<string, unknown>): boolean {
  return ['command', 'url', 'serverUrl', 'httpUrl'].some(key => key in value)
}

/** The words of a command line, split as a shell does: quotes hold words together. */
export function wordsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []
  return words.map(word => (/^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word))
}

/** Lines of `NAME=value`. */
export function pairsOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line): [string, string][] => {
    const at = line.search(/[=:]/)
    return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
  })
  return Object.fromEntries(pairs)
}
