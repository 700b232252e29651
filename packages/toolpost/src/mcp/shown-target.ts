import { looksRandom } from '../logging/config-secrets.ts'
import { isSecretKey, REMOVED } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { shownUrl } from './failure-report.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'
import { optionsIn, secretsOf } from './server-secrets.ts'

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
