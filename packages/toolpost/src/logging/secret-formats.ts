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
      'hv[sb]\\.[\\w-]{16,}|dp\\.[a-z]{2,5}\\.\\w{16,}|dapi[0-9a-f]{32}|SK[0-9a-f]{32}', // Vault, Doppler, Databricks, Twilio
      '(?:lin_api|ntn|figd|sbp|r8)_[\\w-]{16,}|(?:xai|pplx)-\\w{16,}|secret_(?=\\w{0,100}\\d)\\w{24,}', // Linear, Notion, Figma and others
      '\\d{6,12}:AA[\\w-]{30,}|[MNO][\\w-]{17,27}\\.\\w{6}\\.[\\w-]{27,}', // Telegram, Discord
      '(?<=hooks\\.slack\\.com/services/)[\\w/]+|(?<=/bot)\\d{5,12}:[\\w-]{16,}', // Slack's webhooks, Telegram
    ].join('|'),
    ')|(?<![\\w-])eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*)*', // JSON Web Tokens
  ].join(''),
  'g',
)
const MARKS =
  /sk-|[srp]k_|whsec|gh[opusr]_|github_pat|gl[a-z]{2,3}-|xox|xapp|A[KSBC]|AIza|ya29|GOCSPX|hf_|gsk_|npm_|pypi-|dop_|shp|SG\.|eyJ|AGE-|PRIVATE KEY|hooks\.slack|\/bot\d|hv[sb]\.|dp\.[a-z]|dapi|SK[0-9a-f]|lin_api|ntn_|figd_|sbp_|r8_|xai-|pplx-|secret_|\d:AA|\.\w{6}\./

/** `-p`, `-u`: of a command. */
const SHORT_OPTION = /(?:^|[\s"'])-[abpPuUw]/

/** Between the words of a command line, also one that is written as a list: `["curl", "-u", "a:b"]`. */
const GAP = '(?:\\s+|\\\\{0,7}["\']\\s*,\\s*\\\\{0,7}["\'])'
const WORD = '[^\\s"\'`,\\]\\\\]+'

/** Programs that take a secret by an option of one letter. */
const PROGRAMS: readonly { name: RegExp; option: RegExp }[] = [
  { name: /curl$/, option: /^-b/ },
  { name: /sshpass$/, option: /^-p/ },
  { name: /login$/, option: /^-p/ },
  { name: /(?:mysql\w{0,20}|mariadb[\w-]{0,20}|7za?)$/, option: /^-p[^\s"',\\]/ },
  { name: /redis-cli$/, option: /^-a/ },
  { name: /ldap\w{1,20}$/, option: /^-w/ },
  { name: /zip$/, option: /^-P/ },
]
const PROGRAM =
  /\b(?:curl|sshpass|(?:docker|podman|nerdctl|buildah|skopeo|registry|auth)["'\s,\\]{1,20}login|(?:mysql|mariadb)[\w-]{0,20}|7za?|redis-cli|ldap\w{1,20}|(?:un)?zip)(?=["'\s\\])/g
const PROGRAM_REACH = 300

/** Whether the program before an option takes a secret by it. */
function takesSecret(text: string, at: number, option: string): boolean {
  const command = text.slice(Math.max(0, at - PROGRAM_REACH), at)
  const name = [...command.matchAll(PROGRAM)].at(-1)?.[0] ?? ''
  return PROGRAMS.some(program => program.name.test(name) && program.option.test(option))
}

/** A word and not a key: `expired`, `Required`. */
function isWord(value: string): boolean {
  return /^[A-Z]?[a-z'-]*[.,;:!?)]*$/.test(value)
}

/** Of base64, not of a word: "Basic dXNlcjpwYXNz", "basic information". */
function likeCredentials(word: string): boolean {
  return /[\d=+/]/.test(word) || (/[a-z]/.test(word) && /.[A-Z]/.test(word))
}

/** What stands before the secret, which is kept, if it names one. */
const ifNamed = (all: string, before: string, name: string) => (namesASecret(name) ? before + REMOVED : all)
const ifNamedInList = (all: string, before: string, _quote: string, name: string) =>
  ifNamed(all, before, name)
const IN_ADDRESS = /:\/\//
const ANY = { test: mayNameASecret }

/** Forms of secrets: which texts can have one, what it looks like, and what is left of it. */
const FORMS: readonly {
  hint: { test(text: string): boolean }
  pattern: RegExp
  left: string | ((all: string, ...groups: string[]) => string)
}[] = [
  { hint: MARKS, pattern: MARKED, left: REMOVED },
  // `user:password@`, and `token@` in the address of a web server. A port is none: `host:80/a@b`.
  {
    hint: IN_ADDRESS,
    pattern: /(:\/\/[^\s/:@"'`<>[]*:)(?!\d{1,5}[/?#,;)])(?:[^\s"'`<>@:]|:(?!\/\/))+(?:@[^\s"'`<>@/:]+)?@/g,
    left: `$1${REMOVED}@`,
  },
  {
    hint: IN_ADDRESS,
    pattern: /((?:https?|wss?|git\+https?):\/\/)[^\s/:@?#"'`<>]+@/gi,
    left: `$1${REMOVED}@`,
  },
  // curl's `-u user:password`.
  {
    hint: /-u/,
    pattern: new RegExp(
      `(?<![\\w-])((?:-u|--user)(?:${GAP}|=)["']?[^\\s:"']{1,100}:)(?!\\d+\\b)[^\\s"'\\\\]+`,
      'g',
    ),
    left: `$1${REMOVED}`,
  },
  {
    hint: SHORT_OPTION,
    pattern: new RegExp(
      `(?<![\\w-])(-[abpPw])(${GAP}?)(?!-|\\[removed\\])("[^"\\n]*"?|'[^'\\n]*'?|${WORD})`,
      'g',
    ),
    left: (all: string, option: string, gap: string, value: string, at: string, text: string) =>
      takesSecret(text, Number(at), gap === '' ? option + value : option) ? option + gap + REMOVED : all,
  },
  { hint: ANY, pattern: /\b(bearer)(\s+|%20)[\w.~+/=-]{8,}/gi, left: `$1$2${REMOVED}` },
  // `--password x`; `--password=x` is found by its name.
  {
    hint: ANY,
    pattern:
      /(?<![\w-])(--?([A-Za-z][\w.-]{0,99})\s+)(?!-|\[removed\])(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"'`,\]\\]+)/g,
    left: ifNamed,
  },
  // The same as elements of a list, and a list of a name and its value, as Map and Headers are printed.
  {
    hint: ANY,
    pattern: /((\\{0,7}["'])--?([A-Za-z][\w.-]{0,99})\2\s*,\s*\2)(?:(?!\2)[^\n])+/g,
    left: ifNamedInList,
  },
  {
    hint: ANY,
    pattern: /(\[\s*(\\{0,7}["'])([\w .-]{1,100})\2\s*,\s*\2)((?:(?!\2)[^\n])+)(?=\2\s*\])/g,
    left: ifNamedInList,
  },
  // `<password>x</password>`, `<entry key="password">x</entry>`.
  {
    hint: ANY,
    pattern: /(<([A-Za-z][\w:.-]{0,99})((?:\s[^<>]{0,500})?)>\s*(?:<!\[CDATA\[)?)[^<\s][^<]*/g,
    left: (all: string, before: string, name: string, attributes: string) =>
      ifNamed(all, before, namesASecret(name) ? name : (NAME_ATTRIBUTE.exec(attributes)?.[1] ?? '')),
  },
  // "the password is x", if x is not a word.
  {
    hint: / (?:is|was) /,
    pattern:
      /(\b((?:(?:api|access|private|secret|ssh|auth|pin) )?[A-Za-z][\w-]{0,60}) (?:is|was)(?: now| set to)?:? )(["'`]?)([^\s"'`]+)/gi,
    left: (all: string, before: string, name: string, quote: string, value: string) =>
      namesASecret(name) && (quote !== '' || !isWord(value)) ? before + quote + REMOVED : all,
  },
  // netrc: `machine h login l password x`, also in lines.
  {
    hint: /password\s/,
    pattern: /((?:\b(?:login|machine)\s+\S{1,200}\s{1,20}|^\s{0,20})password\s{1,20})(\S+)(?=\s|$)/gm,
    left: (all: string, before: string, value: string) =>
      before.startsWith('p') && isWord(value) ? all : before + REMOVED,
  },
  {
    hint: /basic/i,
    pattern: /\b((?:authorization\W{0,5})?basic\s+)([\w.~+/=-]{8,})/gi,
    left: (all: string, scheme: string, word: string) =>
      /^authorization/i.test(scheme) || likeCredentials(word) ? scheme + REMOVED : all,
  },
]
const NAME_ATTRIBUTE = /\b(?:name|key|id)=\\{0,7}["']([^"'\\]{1,100})/i

/** `password: |`, and the lines below it that are indented further. */
const YAML_BLOCK =
  /((?:^|\n|\\n)([ \t]*)(?:- )?["']?([\w.-]{1,100})["']?:[ \t]+)[|>][+-]?\d?[ \t]*(?:(?:\r?\n|\\n)(?:\2[ \t]+(?:[^\n\\]|\\(?!n))*|[ \t]*(?=\r?\n|\\n|$)))+/g

/** In every text with a secret; a test of a few nanoseconds, which most texts fail. */
const QUICK_HINT =
  /[:=<[_-]|eyJ|A[A-CIKS][A-Zz]|SG\.|hv[sb]\.|dp\.|dapi|SK[0-9a-f]|\.\w{6}\.|ya29|[bB][eE][aA][rR]|[bB][aA][sS][iI]| is | was |password\s/
const HINT = new RegExp(`${MARKS.source}|${SHORT_OPTION.source}|:\\/\\/|-u|[bB][aA][sS][iI][cC]|\\\\u00[4-7]`)

/** Whether there may be a secret in a text. */
export function mayHaveASecret(text: string): boolean {
  return QUICK_HINT.test(text) && (mayNameASecret(text) || HINT.test(text))
}

/** Private keys and blocks of YAML, which take more than a line. */
export function withoutLongSecrets(text: string): string {
  const clean = text.includes('PRIVATE KEY')
    ? text.replace(REST_OF_KEY, REMOVED).replace(PRIVATE_KEY, REMOVED)
    : text
  if (!/:[ \t]+[|>]/.test(clean)) return clean
  return clean.replace(YAML_BLOCK, (all, before: string, _indent: string, name: string) =>
    namesASecret(name) ? before + REMOVED : all,
  )
}

/** `text` without what has the form of a secret. */
export function withoutSecretFormats(text: string): string {
  let clean = withoutLongSecrets(text)
  for (const { hint, pattern, left } of FORMS)
    if (hint.test(clean)) clean = clean.replace(pattern, left as string)
  return clean
}

/** The words of a command, as a list, without secrets; `undefined` if there is none. */
export function withoutSecretWords(words: readonly string[]): string[] | undefined {
  const line = words.join('\n')
  const clean = SHORT_OPTION.test(line) ? withoutSecretFormats(line) : line
  const cleanWords = clean.split('\n')
  return clean === line || cleanWords.length !== words.length ? undefined : cleanWords
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
