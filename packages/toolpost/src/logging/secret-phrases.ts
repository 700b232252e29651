import { REMOVED } from './known-secrets.ts'
import { looksRandom } from './looks-random.ts'
import { type Form, isWord, type Left } from './secret-form.ts'
import { namesASecret } from './secret-names.ts'

/*
 * Secrets after their names with only whitespace or a word in between: "the password is x", `requirepass x`. Prose has
 * such names too, so a value that is a word does not count.
 */

/** Algorithms and protocols: `sha256`, `oauth2`. */
const TECHNICAL = /^(?:sha|md|base|utf|aes|rsa|oauth|ipv|http|tls|v)[-_]?\d/i
/** Names that do not occur in prose: `mqtt_password`, `bindpw`, `dbPass`, `-storepass`, the `PASS` of a protocol. */
const OF_A_SETTING = /[_.-]|[a-z][A-Z]|^(?:PASS|AUTH)$|^(?!pass)\w+(?:pass|pw|auth)$/
/** Names whose value counts as a password even if it looks like a word with a number. */
const OF_A_PASSWORD = /pass(?:word|wd|phrase|code|wort)$|^(?:kennwort|contraseña|api ?key)$/i

function isNoProse(name: string, value: string): boolean {
  if (looksRandom(value)) return true
  if (isWord(value) || value.length < 6 || TECHNICAL.test(value) || /[/(]|\.\w/.test(value)) return false
  return OF_A_SETTING.test(name) || (OF_A_PASSWORD.test(name) && /\d/.test(value) && /[a-z]/i.test(value))
}

const ifNoProse: Left = (all, [before = '', name = '', value = '']) =>
  namesASecret(name) && isNoProse(name, value) ? before + REMOVED : all

/** The name is the last word or the last two: "verification code". */
const ifSaid: Left = (all, [before = '', words = '', value = '']) => {
  const isNamed = namesASecret(words) || namesASecret(words.slice(words.indexOf(' ') + 1))
  return isNamed && (/["'`]$/.test(before) || !isWord(value)) ? before + REMOVED : all
}

export const PHRASES: readonly Form[] = [
  {
    hint: / (?:is|was|ist|lautet|est|es)[ :]/,
    pattern:
      /(\b((?:[A-Za-z][\w-]{0,30} )?[A-Za-z][\w-]{0,60}) (?:is|was|ist|lautet|est|es)(?: now| set to)?:? ["'`]?)((?<=["'`])[^\s"'`]+|[^\s"'`]+)/gi,
    left: ifSaid,
  },
  // netrc: `machine h login l password x`, on one line or several.
  {
    hint: /password\s/,
    pattern:
      /((?:\b(?:login|machine)\s+\S{1,200}\s{1,20}|^\s{0,20})password\s{1,20})([^\s=:|→][^\s]*)(?=\s|$)/gm,
    left: (all, [before = '', value = '']) =>
      (before.startsWith('p') && isWord(value)) || value === '->' ? all : before + REMOVED,
  },
  {
    hint: /\w \w/,
    pattern:
      /((?<![\w.@/-])-?([\w.-]{0,60}(?:pass|pw|auth|token|secret|key|code|kennw|contras)[\w.ñ-]{0,40}) (?:\d )?)(?![=:|-])([^\s"'`\\|,;:=<>]+)/gi,
    left: ifNoProse,
  },
  // Passwords read from stdin: `echo x | sudo -S`, `--password-stdin <<< x`.
  {
    hint: /sudo|-stdin/,
    pattern: /(\becho\s{1,5}["']?)[^\s|"']+(?=["']?\s{0,5}\|\s{0,5}(?:sudo\s{1,5}-S|[^\n|]{1,200}-stdin))/g,
    left: (_, [before]) => `${before}${REMOVED}`,
  },
  {
    hint: /<<</,
    pattern: /(\bpass\w{0,20}-stdin\s{0,5}<<<\s{0,5}["']?)[^\s"']+/g,
    left: (_, [before]) => `${before}${REMOVED}`,
  },
]
