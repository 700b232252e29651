import { looksRandom, secretsInAddress } from '../logging/config-secrets.ts'
import { isSecretKey, REMOVED } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { shownUrl } from './failure-report.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'

/** Shorter values would match everywhere, and are not secrets. */
const MIN_LENGTH = 6
/** `--api-key=value`, `API_KEY=value` */
const ASSIGNMENT = /^-{0,2}([\w.-]+)=(.+)$/s
const OPTION = /^--?([\w.-]+)$/
/** Endings of variable names that suggest a secret in the configuration of a server. */
const SECRET_VARIABLE = /(?:key|pat|psk|creds?|salt|seed|dsn)s?\d*$/i
/** Common settings that are not secrets, and would match everywhere. */
const NO_SECRET =
  /^(?:true|false|none|null|enabled|disabled|required|optional|basic|bearer|digest|oauth2?|default|production|development|localhost)$/i
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

type Named = [name: string, value: string]

/**
 * The secret values in a server's configuration: environment variables, headers and options with a telling name or a random
 * value, and the secret parts of URLs. Longest first, so that no replacement breaks another.
 */
export function secretsOf(entry: ServerEntry): string[] {
  const { settings, args } = isHttp(entry)
    ? { settings: Object.entries(entry.headers ?? {}), args: [] }
    : { settings: Object.entries(entry.env ?? {}), args: entry.args ?? [] }
  const options = optionsIn(args)
  const secrets = [...settings.filter(isSecretSetting), ...options.filter(([name]) => isSecretKey(name))]
  const texts = [entry.url ?? '', ...args, ...[...settings, ...options].map(([, value]) => value)]
  const found = [
    ...secrets.flatMap(([, value]) => [value, withoutScheme(value)]),
    ...texts.flatMap(secretsInAddress),
  ]
  const secret = found.filter(value => value.length >= MIN_LENGTH && !NO_SECRET.test(value))
  return [...new Set(secret)].sort((a, b) => b.length - a.length)
}

function isSecretSetting([name, value]: Named): boolean {
  return isSecretKey(name) || SECRET_VARIABLE.test(name) || (looksRandom(value) && !UUID.test(value))
}

/** `--api-key value`, `--api-key=value` and `API_KEY=value` as pairs. */
function optionsIn(args: readonly string[]): Named[] {
  return args.flatMap((arg, at): Named[] => {
    const [, name, value] = ASSIGNMENT.exec(arg) ?? []
    if (name !== undefined && value !== undefined) return [[name, value]]
    const option = OPTION.exec(arg)?.[1]
    return option === undefined ? [] : [[option, args[at + 1] ?? '']]
  })
}

function withoutScheme(value: string): string {
  return value.replace(/^(bearer|basic|token)\s+/i, '')
}

const MAX_CHARACTERS = 500

/** How a server is reached, for display: its command with arguments, or its URL. Leaves out secrets, however short. */
export function shownTarget(entry: ServerEntry): string {
  if (isHttp(entry)) return withoutSecrets(shownUrl(entry.url), entry)
  const { command, args = [] } = entry
  const hidden = new Set(optionsIn(args).flatMap(([name, value]) => (isSecretKey(name) ? [value] : [])))
  const words = [command, ...args].map(word => shownWord(word, hidden))
  return withoutSecrets(words.join(' '), entry)
}

function shownWord(word: string, hidden: ReadonlySet<string>): string {
  const equals = word.indexOf('=')
  if (hidden.has(word)) return REMOVED
  if (equals > 0 && hidden.has(word.slice(equals + 1))) return `${word.slice(0, equals)}=${REMOVED}`
  if (looksRandom(word)) return REMOVED
  return /\s/.test(word) ? JSON.stringify(word) : word
}

function withoutSecrets(text: string, entry: ServerEntry): string {
  const clean = secretsOf(entry).reduce((shown, secret) => shown.replaceAll(secret, REMOVED), text)
  return safeText(clean, MAX_CHARACTERS)
}
