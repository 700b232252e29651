/*
 * Names that belong to a secret: of keys, options and variables, and in texts. The only such list; `log.secrets` in the
 * configuration adds to it. Case, `_`, `-`, `.` and trailing digits are ignored.
 */

/** Anywhere in a name. */
const ANYWHERE =
  'password|passwort|passwd|passphrase|passcode|contrase(?:n|ñ)a|motdepasse|wachtwoord|пароль|密码|密碼|パスワード|secret(?!ar)|authorization|cookie|credential|bearer|sess(?:ion)?id|connectsid|mnemonic|seedphrase|(?:api|private|access|signing|encryption|security)key|clientkeydata|s[02](?:accesscontrol|authenticated|unauthenticated|legacy)'
/** At the end of a name: `max_tokens` and `tokenizer` are not secret. */
const ENDINGS =
  'token|pwd|pw|jwt|psk|(?<!com|by|tres|over|sur|under|fast)pass|(?:master|basic|proxy|http)auth|keymaterial|(?:security|secret)answer'
/** A separate word at the end, so that `compass`, `author`, `spinning` and `pinned` are not secret. */
const LAST_WORDS =
  'pass|passe|senha|pw|pin|otp|totp|2fa|mfa|csrf|xsrf|auth|creds?|cvv|cvc|passkey|sig|signature|kennwort|(?:pin|otp|mfa|2fa|auth|verification|recovery|backup|security|access|invite|pairing|unlock|alarm|door|gate|lock|user|confirmation|time) ?(?:codes?|number)'
/** Words before `key` that make it a secret: `primary_key`, `cache_key` and a lone `key` are not. */
const KEY_OWNERS =
  'decryption|secret|ssh|gpg|pgp|rsa|hmac|aes|tls|ssl|master|account|auth|client|service|deploy|licen[sc]e|storage|shared|webhook|admin|app|subscription|functions?|wi ?fi|wlan|wpa|network|session|openai|anthropic|gemini|google|aws|azure|github|gitlab|stripe|slack'
/** `OPENAI_KEY`, `GITHUB_PAT`: in names of environment variables, more endings mean a secret. */
const VARIABLE =
  /^(?!.*(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|CACHE|OBJECT|ROW|INDEX)_KEY$)[A-Z\d]+(?:_[A-Z\d]+)*_(?:KEY|PAT|PSK|CREDS?|SALT|SEED|DSN)\d*$/

/** Every secret name contains one of these. */
const HINTS =
  'p(?:ass|w|in|at|sk)|s(?:ig|rf|ecurity|alt|eed|ess|ecret|enha|[02][ _]?[aul])|c(?:red|vv|vc|ode|ookie|ontrase|onnect\\.sid)|kennwort|wachtw|otp|auth|number|key|dsn|token|jwt|bearer|m(?:nemonic|fa)|2fa'

/** The same in other scripts; free for a Latin text. */
const FOREIGN_HINTS = /[пП]ароль|密[码碼]|パスワード/

const MAX_NAME_LENGTH = 200
const MAX_REMEMBERED = 10_000

let inPlain: RegExp
let hints: RegExp
const added = new Set<string>()
const remembered = new Map<string, boolean>()
readNames()

/** More names whose values no log may show; each matches any name that ends with it. */
export function addSecretNames(names: Iterable<string>): void {
  for (const name of names) if (plainOf(name) !== '') added.add(plainOf(name))
  readNames()
}

function readNames(): void {
  const own = [...added].join('|') || '(?!)'
  inPlain = new RegExp(`${ANYWHERE}|(?:(?:${KEY_OWNERS})keys?|${ENDINGS}|${own})$`)
  hints = new RegExp([HINTS, ...[...added].map(name => [...name].join('[ _.-]{0,3}'))].join('|'), 'i')
  remembered.clear()
}

/** Whether a key names a secret. Memoised. */
export function isSecretKey(key: string): boolean {
  let known = remembered.get(key)
  if (known === undefined) {
    known = namesASecret(key)
    if (remembered.size < MAX_REMEMBERED && key.length <= MAX_NAME_LENGTH) remembered.set(key, known)
  }
  return known
}

/** The same, for names that are not worth remembering. */
export function namesASecret(key: string): boolean {
  if (!mayNameASecret(key)) return false
  const name = key.length > MAX_NAME_LENGTH ? key.slice(-MAX_NAME_LENGTH) : key
  return inPlain.test(plainOf(name)) || LAST_WORD.test(wordsOf(name)) || VARIABLE.test(name)
}

const LAST_WORD = new RegExp(`(?:^| )(?:${LAST_WORDS})$`)

/** Whether a text may contain a secret name: most do not. */
export function mayNameASecret(text: string): boolean {
  return hints.test(text) || FOREIGN_HINTS.test(text)
}

/** `tokenValue`, `auth_header`: the word before it is the actual name. */
const AS_WHAT = /(?<=.{3})(?:value|header|string|plain|raw|hex|b64|base64)$/

function plainOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z\d\u00df-\uffff]/g, '')
    .replace(/v?\d{1,9}$/, '')
    .replace(AS_WHAT, '')
}

/** `dbPass1`, `DB_PASS` and `MQTTPass` as `db pass` and `mqtt pass`. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, ' ')
    .trim()
    .replace(/(?: v| )?\d{1,9}$/, '')
    .replace(AS_WHAT, '')
    .trimEnd()
}

const KUBERNETES_SECRET = /\bkind\\{0,7}["']?:\s{0,5}\\{0,7}["']?Secret(?![\w ])/
const KUBERNETES_REACH = 300

/** Whether a name at this position of a text is the data of a Kubernetes Secret. */
export function isKubernetesData(name: string, text: string, at: number): boolean {
  if (name !== 'data' && name !== 'stringData') return false
  return KUBERNETES_SECRET.test(text.slice(Math.max(0, at - KUBERNETES_REACH), at + KUBERNETES_REACH))
}
