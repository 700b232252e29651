import { REMOVED } from './known-secrets.ts'
import { looksRandom } from './looks-random.ts'
import { namedSpans } from './named-secrets.ts'
import { blockSpans } from './secret-blocks.ts'
import {
  ARGUMENT,
  ifProgramTakesIt,
  OPTION_OF_PROGRAM,
  SAMBA_USER,
  SHORT_OPTION,
  USER_OPTION,
} from './secret-commands.ts'
import { type Form, ifNamed, isWord, type Left } from './secret-form.ts'
import { MARKED, MARKS } from './secret-marks.ts'
import { mayNameASecret, namesASecret } from './secret-names.ts'
import { PHRASES } from './secret-phrases.ts'
import { cut, type Finder, merged, type Span } from './secret-spans.ts'

/*
 * Secrets recognised by their form. Every pattern here must take linear time: each run of characters is started once or
 * is bounded.
 */

/** Base64 rather than a word: "Basic dXNlcjpwYXNz", not "basic information". */
function likeCredentials(word: string): boolean {
  return /[\d=+/]/.test(word) || (/[a-z]/.test(word) && /.[A-Z]/.test(word))
}

const afterFirst: Left = (_, [before]) => `${before}${REMOVED}`
const ifNamedInList: Left = (all, [before = '', , name = '']) => ifNamed(all, [before, name], 0, '')
/** Only if the value is not a word: `| password | required |`. */
const ifNamedAndNoWord: Left = (all, [before = '', name = '', value = '']) =>
  isWord(value) && !/[A-Z]_[A-Z]/.test(name) ? all : ifNamed(all, [before, name], 0, '')

const IN_ADDRESS = /:\/\//
const ANY = { test: mayNameASecret }
const NAME_ATTRIBUTE = /\b(?:name|key|id)=\\{0,7}["']([^"'\\]{1,100})/i

const FORMS: readonly Form[] = [
  { hint: MARKS, pattern: MARKED, left: () => REMOVED },
  // `user:password@`, and `token@` in the URL of a web server. A port is not a secret: `host:80/a@b`.
  {
    hint: IN_ADDRESS,
    pattern: /(:\/\/[^\s/:@"'`<>[]*:)(?!\d{1,5}[/?#,;)])(?:[^\s"'`<>@:]|:(?!\/\/))+(?:@[^\s"'`<>@/:]+)?@/g,
    left: (_, [before]) => `${before}${REMOVED}@`,
  },
  {
    hint: IN_ADDRESS,
    pattern: /((?:https?|wss?|git\+https?):\/\/)[^\s/:@?#"'`<>]+@/gi,
    left: (_, [before]) => `${before}${REMOVED}@`,
  },
  // Oracle's `jdbc:oracle:thin:user/password@`.
  {
    hint: /jdbc:/,
    pattern: /(jdbc:[\w:]{1,40}:[^\s/:@"']{1,100}\/)[^\s/@"']+@/g,
    left: (_, [before]) => `${before}${REMOVED}@`,
  },
  // A key or a code in a URL, unless it looks like a word.
  {
    hint: /(?:[?&#;]|[?&#;][\w.-]{0,40}[_.-])(?:key|code|session|sid|k)=/i,
    pattern: /([?&#;](?:[\w.-]{0,40}[_.-])?(?:key|code|session|sid|k)=)([^\s&#"'`<>\\]{16,})/gi,
    left: (all, [before, value = '']) => (looksRandom(value) ? before + REMOVED : all),
  },
  { hint: /-u/, pattern: USER_OPTION, left: afterFirst },
  { hint: /-U/, pattern: SAMBA_USER, left: afterFirst },
  { hint: SHORT_OPTION, pattern: OPTION_OF_PROGRAM, left: ifProgramTakesIt },
  {
    hint: ANY,
    pattern: /\b(bearer(?:\s+|%20))[\w.~+/=-]{8,}/gi,
    left: afterFirst,
  },
  // `--password x`; `--password=x` is found by its name.
  {
    hint: ANY,
    pattern: new RegExp(
      `(?<![\\w-])(--?([A-Za-z][\\w.-]{0,99})\\\\?\\s+)(?!-|\\[removed\\])${ARGUMENT(3)}`,
      'g',
    ),
    left: ifNamed,
  },
  // The same as elements of a list, and name-value lists, as Map and Headers are printed.
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
  // `<password>x</password>`, `<entry key="password">x</entry>`, `<key>password</key><string>x</string>`.
  {
    hint: ANY,
    pattern: /(<([A-Za-z][\w:.-]{0,99})((?:\s[^<>]{0,500})?)>\s*(?:<!\[CDATA\[)?)[^<\s][^<]*/g,
    left: (all, [before, name = '', attributes = '']) =>
      ifNamed(
        all,
        [`${before}`, namesASecret(name) ? name : (NAME_ATTRIBUTE.exec(attributes)?.[1] ?? '')],
        0,
        '',
      ),
  },
  {
    hint: ANY,
    pattern:
      /((?:<key>|<\w{1,30} (?:name|key)=\\{0,7}["'])([\w .-]{1,100})(?:<\/key>|\\{0,7}["']>)\s{0,100}<\w{1,30}>)[^<\s][^<]*/g,
    left: ifNamed,
  },
  {
    hint: /content=/,
    pattern:
      /(<meta\s[^<>]{0,100}?name=\\{0,7}["']([\w.-]{1,100})\\{0,7}["']\s{1,20}content=\\{0,7}["'])[^"'\\<>]+/g,
    left: ifNamed,
  },
  {
    hint: /basic/i,
    pattern: /\b((?:authorization\W{0,5})?basic\s+)([\w.~+/=-]{8,})/gi,
    left: (all, [scheme = '', word = '']) =>
      /^authorization/i.test(scheme) || likeCredentials(word) ? scheme + REMOVED : all,
  },
  // `setenv SECRET_KEY x`, `ENV API_KEY x`, `npm config set _authToken x`; table cells: `| password | x |`.
  {
    hint: ANY,
    pattern:
      /(\b(?:ENV|ARG|setenv|set|export)\s{1,20}(?:\/\/[^\s:]{1,100}:)?([A-Za-z_][\w.-]{1,99})\s{1,20})(?![=:|-])([^\s"'`\\]+)/g,
    left: ifNamedAndNoWord,
  },
  {
    hint: ANY,
    pattern:
      /((?<![\w.-])([A-Za-z_][\w.-]{1,99})(?:\*\*)?(?: {0,20}\| {0,20}|(?:\t|\\t){1,20}| {2,20}))(?![=:|\s-])([^\s|"'`\\<>()/$]+)(?=[\s|"'`\\]|$)/g,
    left: ifNamedAndNoWord,
  },
  // SQL and function calls: `PASSWORD 'x'`, `setPassword("x")`.
  {
    hint: ANY,
    pattern:
      /(\b\w{0,40}(?:password|passwd|passphrase|passcode)\s{0,20}\(?\s{0,20}\\{0,7}["'])(?![:,;=<>\s(){}[\]])[^"'\n\\]+(?=\\{0,7}["'])(?!\\{0,7}["']\s{0,20}:)/gi,
    left: afterFirst,
  },
  {
    hint: /identified\s+by/i,
    pattern: /(\bidentified\s{1,20}by\s{1,20}\\{0,7}["'])[^"'\n\\]+/gi,
    left: afterFirst,
  },
  // Encoded for a URL or for HTML: `password%3Dx`, `&quot;password&quot;:&quot;x`.
  {
    hint: /%(?:25)*3[adAD]/,
    pattern:
      /((?<![\w.-])([\w.-]{1,100})(?:%(?:25){0,3}2[27])?%(?:25){0,3}3[ad](?:%2[027])*)(?:[^\s&"'%]|%(?!2[26cC7]|7[dD])[\da-f]{2})+/gi,
    left: (all, [before = '', name = '']) =>
      ifNamed(all, [before, name.replace(/^(?:2[26c]|7b)/i, '')], 0, ''),
  },
  {
    hint: /&(?:quot|#\w{2,4});/,
    pattern:
      /((?<![\w.-])([\w.-]{1,100})(?:&(?:quot|apos|#\w{2,4});)*[:=]?\s{0,20}(?:&(?:quot|apos|#\w{2,4});)+)(?:[^\s&"'<>]|&(?!quot|apos|#))+/g,
    left: ifNamed,
  },
]

function formSpans({ pattern, left }: Form, text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(pattern)) {
    const [all, ...groups] = match
    const kept = left(all, groups, match.index, text)
    if (kept === all) continue
    const before = kept.lastIndexOf(REMOVED)
    const after = kept.length - before - REMOVED.length
    spans.push({ from: match.index + before, to: match.index + all.length - after })
  }
  return spans
}

const findForms = [...PHRASES, ...FORMS].map(
  (form): Finder =>
    text =>
      form.hint.test(text) ? formSpans(form, text) : [],
)
const findBlocks: Finder = text => merged(blockSpans(text))

/** Everything that finds a secret by its form, in the order to apply it. */
export const FINDERS: readonly Finder[] = [findBlocks, ...findForms, namedSpans]

/** Matches every text with a secret; takes a few nanoseconds, and most texts fail it. */
const QUICK_HINT =
  /[:=<[_|%&'：＝→-]|eyJ|atlasv1|A[A-CIKS][A-Zz]|SG\.|hv[sb]\.|dp\.|dapi|SK[0-9a-f]|\.\w{6}\.|sl\.|ya29|1\/\/0|AT[AC]TT3|[bB][eE][aA][rR]|[bB][aA][sS][iI]| is | was |pass|PASS|Pass|pw |secret|token|api.?key|auth|AUTH|code |key |stdin|"|set|ENV|ARG|export|\t| {2}/
const HINT = new RegExp(
  `${MARKS.source}|sudo -S|-stdin|PRIVATE KEY|Private-Lines|${SHORT_OPTION.source}|:\\/\\/|jdbc:|-[uU]|[iI](?:dentified|DENTIFIED)|[bB][aA][sS][iI][cC]|\\\\u00[4-7]|[?&#;][\\w.-]{0,40}(?:key|code|session|sid|k)=`,
)

/** Whether a text may contain a secret. */
export function mayHaveASecret(text: string): boolean {
  return QUICK_HINT.test(text) && (mayNameASecret(text) || HINT.test(text))
}

/** `text` without secrets of several lines: private keys and YAML blocks. */
export function withoutLongSecrets(text: string): string {
  return cut(text, findBlocks(text))
}

/** `text` without anything that has the form of a secret or follows the name of one. */
export function withoutFoundSecrets(text: string): string {
  return FINDERS.reduce((clean, find) => cut(clean, find(clean)), text)
}

/** The words of a command line without secrets; `undefined` if it has none. */
export function withoutSecretWords(words: readonly string[]): string[] | undefined {
  const line = words.join('\n')
  if (!SHORT_OPTION.test(line)) return undefined
  const clean = findForms.reduce((text, find) => cut(text, find(text)), line)
  const cleanWords = clean.split('\n')
  return clean === line || cleanWords.length !== words.length ? undefined : cleanWords
}
