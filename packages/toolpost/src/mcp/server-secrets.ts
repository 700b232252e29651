import { isSecretKey } from '../logging/safe-value.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'

/** Shorter values would be found everywhere, and are no secrets. */
const MIN_LENGTH = 6
const FLAG = /^--?([\w-]+)(?:=(.*))?$/

/**
 * The secret values that a server's configuration holds: environment variables, headers and command line
 * options with a telling name, and passwords inside URLs. Longest first, so that none is cut by another.
 */
export function secretsOf(entry: ServerEntry): string[] {
  const named = isHttp(entry)
    ? Object.entries(entry.headers ?? {})
    : [...Object.entries(entry.env ?? {}), ...optionsIn(entry.args ?? [])]
  const secrets = named
    .filter(([key]) => isSecretKey(key))
    .flatMap(([, value]) => [value, withoutScheme(value)])
  const passwords = [entry.url ?? '', ...named.map(([, value]) => value)].flatMap(passwordIn)
  const found = [...secrets, ...passwords].filter(value => value.length >= MIN_LENGTH)
  return [...new Set(found)].sort((a, b) => b.length - a.length)
}

/** `--api-key value` and `--api-key=value` as pairs. */
function optionsIn(args: readonly string[]): [string, string][] {
  return args.flatMap((arg, at) => {
    const [, name, value] = FLAG.exec(arg) ?? []
    return name === undefined ? [] : [[name, value ?? args[at + 1] ?? ''] as [string, string]]
  })
}

function withoutScheme(value: string): string {
  return value.replace(/^(bearer|basic)\s+/i, '')
}

function passwordIn(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return []
  const { password } = new URL(value)
  return password === '' ? [] : [password, decodedOr(password)]
}

function decodedOr(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
