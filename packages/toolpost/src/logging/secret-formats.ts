import { REMOVED } from './known-secrets.ts'
import { mayNameASecret, namesASecret } from './secret-names.ts'

/*
 * Secrets that a text shows by their form. No pattern here may take more than linear time: each run of characters is
 * begun once, or is bounded.
 */

const END_OF_KEY = '-----END [A-Z ]{0,40}PRIVATE KEY-----'
const PRIVATE_KEY = new RegExp(`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\\s\\S]*?(?:${END_OF_KEY}|$)`, 'g')
/** The text begins inside of a key. */
const REST_OF_KEY = new RegExp(`^[\\w+/=\\s\\\\]*${END_OF_KEY}`)

/** Keys and tokens with the mark of who gave them out. */
const MARKED = new RegExp(
  [
    '(?<![A-Za-z0-9])(?:',
    [
      'sk-(?:ant|proj|or|svcacct|admin)-[\\w-]{8,}|sk-(?=[\\w-]{0,200}\\d)[\\w-]{16,}', // Anthropic, OpenAI and others
      '(?:sk|rk|pk)_(?:live|test)_\\w{10,}|whsec_[\\w+/=]{16,}', // Stripe
      'gh[opusr]_\\w{16,}|github_pat_\\w{16,}|gl(?:pat|ptt|dt|rt|cbt)-[\\w-]{16,}', // GitHub, GitLab
      'xox[a-z]-[\\w-]{10,}|xapp-[\\w-]{10,}', // Slack
      '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}', // AWS
      'AIza[\\w-]{30,}|ya29\\.[\\w-]{16,}|GOCSPX-[\\w-]{16,}', // Google
      'hf_\\w{16,}|gsk_\\w{16,}|npm_\\w{30,}|pypi-[\\w-]{30,}|dop_v1_\\w{30,}|shp(?:at|ss|ca|pa)_\\w{16,}',
      'SG\\.[\\w-]{16,200}\\.[\\w-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{16,}',
      '(?<=hooks\\.slack\\.com/services/)[\\w/]+|(?<=/bot)\\d{5,12}:[\\w-]{16,}', // Slack's webhooks, Telegram
    ].join('|'),
    ')|(?<![\\w-])eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*)*', // JSON Web Tokens
  ].join(''),
  'g',
)
const MARKS =
  /sk-|[srp]k_|whsec|gh[opusr]_|github_pat|gl[a-z]{2,3}-|xox|xapp|A[KSBC]|AIza|ya29|GOCSPX|hf_|gsk_|npm_|pypi-|dop_|shp|SG\.|eyJ|AGE-|PRIVATE KEY|hooks\.slack|\/bot\d/

/** `user:password@`, and `token@` in the address of a web server. A port is none: `host:80/a@b`. */
const URL_PASSWORD =
  /(:\/\/[^\s/:@"'`<>[]*:)(?!\d{1,5}[/?#,;)])(?:[^\s"'`<>@:]|:(?!\/\/))+(?:@[^\s"'`<>@/:]+)?@/g
const URL_TOKEN = /((?:https?|wss?|git\+https?):\/\/)[^\s/:@?#"'`<>]+@/gi
const BEARER = /\b(bearer)(\s+|%20)[\w.~+/=-]{8,}/gi
const BASIC = /\b((?:authorization\W{0,5})?basic\s+)([\w.~+/=-]{8,})/gi

/** `--password x`; `--password=x` is found by its name. */
const OPTION =
  /(?<![\w-])(--?([A-Za-z][\w.-]{0,99})\s+)(?!-|\[removed\])(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"'`,\]\\]+)/g
/** The same as elements of a list. */
const LISTED_OPTION = /((\\{0,7}["'])--?([A-Za-z][\w.-]{0,99})\2\s*,\s*\2)(?:(?!\2)[^\n])+/g
/** curl's. */
const USER_OPTION = /(?<![\w-])((?:-u|--user)(?:\s+|=)["']?[^\s:"']{1,100}:)(?!\d+\b)[^\s"']+/g
/** `<password>x</password>`, `<entry key="password">x</entry>`. */
const ELEMENT = /(<([A-Za-z][\w:.-]{0,99})((?:\s[^<>]{0,500})?)>\s*(?:<!\[CDATA\[)?)[^<\s][^<]*/g
const NAME_ATTRIBUTE = /\b(?:name|key|id)=\\{0,7}["']([^"'\\]{1,100})/i
/** A list of a name and its value, as Map and Headers are printed. */
const LIST_PAIR = /(\[\s*(\\{0,7}["'])([\w .-]{1,100})\2\s*,\s*\2)((?:(?!\2)[^\n])+)(?=\2\s*\])/g

/** In every text with a secret; a test of a few nanoseconds, which most texts fail. */
const QUICK_HINT = /[:=<[_-]|eyJ|A[A-CIKS][A-Zz]|SG\.|ya29|[bB][eE][aA][rR]|[bB][aA][sS][iI]/
const HINT = new RegExp(`${MARKS.source}|:\\/\\/|-u|[bB][aA][sS][iI][cC]|\\\\u00[4-7]`)

/** Whether there may be a secret in a text. */
export function mayHaveASecret(text: string): boolean {
  return QUICK_HINT.test(text) && (mayNameASecret(text) || HINT.test(text))
}

/** Private keys, which take more than a line. */
export function withoutPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY')) return text
  return text.replace(REST_OF_KEY, REMOVED).replace(PRIVATE_KEY, REMOVED)
}

/** `text` without what has the form of a secret. */
export function withoutSecretFormats(text: string): string {
  let clean = text
  if (MARKS.test(clean)) clean = withoutPrivateKeys(clean).replace(MARKED, REMOVED)
  if (clean.includes('://')) clean = withoutUserInfo(clean)
  if (clean.includes('-u')) clean = clean.replace(USER_OPTION, `$1${REMOVED}`)
  if (mayNameASecret(clean)) clean = withoutNamedForms(clean)
  return /basic/i.test(clean) ? withoutBasic(clean) : clean
}

/** An address without its user and password. */
function withoutUserInfo(text: string): string {
  return text.replace(URL_PASSWORD, `$1${REMOVED}@`).replace(URL_TOKEN, `$1${REMOVED}@`)
}

function withoutBasic(text: string): string {
  return text.replace(BASIC, (all, scheme: string, word: string) =>
    /^authorization/i.test(scheme) || likeCredentials(word) ? scheme + REMOVED : all,
  )
}

/** Of base64, not of a word: "Basic dXNlcjpwYXNz", "basic information". */
function likeCredentials(word: string): boolean {
  return /[\d=+/]/.test(word) || (/[a-z]/.test(word) && /.[A-Z]/.test(word))
}

function withoutNamedForms(text: string): string {
  const ifSecret = (all: string, before: string, name: string) =>
    namesASecret(name) ? before + REMOVED : all
  const ifSecretInList = (all: string, before: string, _quote: string, name: string) =>
    ifSecret(all, before, name)
  return text
    .replace(BEARER, `$1$2${REMOVED}`)
    .replace(OPTION, ifSecret)
    .replace(LISTED_OPTION, ifSecretInList)
    .replace(LIST_PAIR, ifSecretInList)
    .replace(ELEMENT, (all, before: string, name: string, attributes: string) =>
      ifSecret(all, before, namesASecret(name) ? name : (NAME_ATTRIBUTE.exec(attributes)?.[1] ?? '')),
    )
}

/** A change from a letter to a digit, or from one case to the other. */
const CHANGE = /[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g
const MIN_CHANGES = 4

/** Whether a setting has the look of a key: a long part with letters and digits mixed, and no path or version. */
export function looksRandom(text: string): boolean {
  if (text.length < 16 || text.length > 10_000 || !/^[\w.~+/=-]+$/.test(text) || /^[./~]/.test(text))
    return false
  return text.split(/[-_.~+/=]/).some(part => part.length >= 10 && isMixed(part))
}

function isMixed(part: string): boolean {
  const changes = part.match(CHANGE)?.length ?? 0
  return changes >= MIN_CHANGES && (part.match(/\d/g)?.length ?? 0) >= 2 && new Set(part).size >= 7
}
