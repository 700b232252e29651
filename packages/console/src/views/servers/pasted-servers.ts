import { isRecord } from '../../api/guards.ts'

export interface PastedServer {
  /** Empty if what was pasted has none. */
  name: string
  entry: Record<string, unknown>
}

const KEYS = ['mcpServers', 'servers', 'context_servers']

/** The servers in a text that some program's documentation has: with `mcpServers` around them, by name, or one alone. */
export function serversInText(text: string): PastedServer[] | string {
  const value = parsed(text)
  if (!isRecord(value)) return 'This is not JSON with a server in it.'
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

/** Documentation often leaves out the braces around. */
function parsed(text: string): unknown {
  for (const candidate of [text, `{${text.replace(/,\s*$/, '')}}`]) {
    try {
      return JSON.parse(candidate)
    } catch {
      // The other form, or neither.
    }
  }
  return undefined
}

/** The words of a command line, as a shell takes them apart: quotes hold words together. */
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
